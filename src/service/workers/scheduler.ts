/**
 * Runs the tasks of the queues on threads. A thread runs one task at a time. While a task of another account, or a step, waits,
 * the running task pauses when its time slice is over, after its unit of work, and later continues on the same thread.
 */

import { createFairQueue } from '../fair-share.ts';
import { type PauseFlag, requestPause, resume } from './pause-flag.ts';

type Schedulable = {
  readonly id: number;
  readonly account: string;
  readonly kind: TaskKind;
  /** A value other than 0 stops the task. */
  readonly cancel: Int32Array;
  readonly pauseFlag: PauseFlag;
  /** Called once, when the task has ended or was removed from the queue. */
  release(): void;
};

/** A thread and the tasks that it holds. */
type Worker<Thread, Task> = {
  readonly thread: Thread;
  running: Task | null;
  /** Start of the time slice of the running task. */
  startedAt: number;
  /** When the time of the running task was last added to its account. */
  chargedAt: number;
  readonly paused: Set<Task>;
  /** Running, paused, and cancelled but not ended. */
  readonly started: Set<Task>;
};

/** Minimum length of a time slice, but for a task that ends: most recordings of 10 s need only one. */
const timeSliceMs = 50;
/** Started tasks of a worker at most: uploads and reports, and jobs. They bound the memory of paused tasks. */
const maxStarted = 4;
const maxStartedJobs = 2;
/** A step runs in addition to them. */
export const maxTasksPerThread = maxStarted + maxStartedJobs + 1;

export type Scheduler<Thread extends { ready(): number }, Task extends Schedulable> = ReturnType<
  typeof createScheduler<Thread, Task>
>;

export function createScheduler<Thread extends { ready(): number }, Task extends Schedulable>(options: {
  /** Maximum number of queued uploads. */
  readonly queue: number;
  /** Runs a task to its end. Never rejects. @param running tasks that run, without jobs */
  run(thread: Thread, task: Task, running: number): Promise<void>;
  onUpdate(): void;
}) {
  const workers: Worker<Thread, Task>[] = [];
  const queues = createTaskQueues<Task>(options.queue);
  let timer: NodeJS.Timeout | undefined;
  const running = () => workers.filter((worker) => worker.running !== null).length;
  const isIdle = (worker: Worker<Thread, Task>) => worker.running === null && worker.thread.ready() > 0;
  const isRunningJob = ({ running }: Worker<Thread, Task>) => running?.kind === 'job';

  function update(): void {
    for (const worker of workers) charge(worker);
    const free = workers.filter(isIdle).sort((one, other) => one.paused.size - other.paused.size);
    for (const worker of free) {
      const task = queues.next(startedOf(worker));
      if (task !== null) start(worker, task);
    }
    clearTimeout(timer);
    const ends = workers.map(requestEnd).filter((ms) => ms > 0);
    if (ends.length > 0) timer = setTimeout(update, Math.min(...ends));
    options.onUpdate();
  }

  /** Requests a pause of the running task if another one waits. Returns the time until then, ms; 0: none. */
  function requestEnd(worker: Worker<Thread, Task>): number {
    const { running: task, startedAt } = worker;
    if (task === null) return 0;
    const slice = queues.sliceOf(task, startedOf(worker));
    if (slice === null) {
      requestPause(task.pauseFlag, false);
      return 0;
    }
    const left = Math.max(0, startedAt + slice - performance.now());
    requestPause(task.pauseFlag, left === 0);
    return left;
  }

  function charge(worker: Worker<Thread, Task>): void {
    const now = performance.now();
    if (worker.running !== null) queues.charge(worker.running, now - worker.chargedAt);
    worker.chargedAt = now;
  }

  function start(worker: Worker<Thread, Task>, task: Task): void {
    worker.running = task;
    worker.startedAt = performance.now();
    if (worker.paused.delete(task)) resume(task.pauseFlag);
    else {
      worker.started.add(task);
      const requests = workers.filter((one) => one.running !== null && !isRunningJob(one)).length;
      void options.run(worker.thread, task, requests).then(() => end(worker, task));
    }
  }

  function end(worker: Worker<Thread, Task>, task: Task): void {
    charge(worker);
    if (worker.running === task) worker.running = null;
    worker.paused.delete(task);
    worker.started.delete(task);
    release(task);
  }

  function release(task: Task): void {
    queues.end(task);
    task.release();
    update();
  }

  return {
    uploads: queues.uploads,
    update,
    addThread(thread: Thread): void {
      const tasks = { running: null, paused: new Set<Task>(), started: new Set<Task>() };
      workers.push({ thread, startedAt: 0, chargedAt: 0, ...tasks });
    },
    /** Whether an upload would start at once: a worker is idle, or runs a job, which pauses, and no other upload waits for it. */
    idle: () =>
      workers.filter((worker) => isRunningJob(worker) || isIdle(worker)).length > queues.uploads.size(),
    add(task: Task): void {
      queues.add(task);
      update();
    },
    /** A started task has paused. */
    onPaused(id: number): void {
      const worker = workers.find((one) => one.running?.id === id);
      if (worker === undefined) return;
      const task = worker.running as Task;
      charge(worker);
      worker.running = null;
      if (Atomics.load(task.cancel, 0) === 0) worker.paused.add(task);
      else resume(task.pauseFlag);
      update();
    },
    /** Removes the task from the queue, or sets its flag: its worker stays busy until it has read the flag. */
    stop(task: Task): void {
      Atomics.store(task.cancel, 0, 1);
      if (queues.remove(task)) release(task);
      else if (workers.some(({ paused }) => paused.delete(task))) resume(task.pauseFlag);
    },
    /** Queued and started tasks. */
    all: () => [...queues.all(), ...workers.flatMap(({ started }) => [...started])],
    isEmpty: () => workers.every(({ started }) => started.size === 0),
    stats: () => ({ ...queues.stats(), running: running() }),
  };
}

function startedOf<Task extends Schedulable>({ paused, started }: Worker<unknown, Task>): Started<Task> {
  const jobs = [...started].filter(({ kind }) => kind === 'job').length;
  return { paused, isFull: started.size - jobs >= maxStarted, hasMaxJobs: jobs >= maxStartedJobs };
}

// The tasks that wait for a worker. Accounts share the workers by the time that their tasks run, not by their number.

/** Uploads are bounded. Steps and reports of live sessions, and jobs, are never refused. Jobs run while nothing else waits. */
export type TaskKind = 'upload' | 'step' | 'report' | 'job';

type Waiting = { readonly account: string; readonly kind: TaskKind };

/** The tasks that a worker has started and paused. */
type Started<Task> = {
  readonly paused: ReadonlySet<Task>;
  /** The worker starts no further task but steps and jobs. */
  readonly isFull: boolean;
  /** The worker starts no further job. */
  readonly hasMaxJobs: boolean;
};

/** Steps that run before a waiting task of another kind. */
const maxStepsInRow = 4;

export function createTaskQueues<Task extends Waiting>(uploadCapacity: number) {
  const queues = {
    upload: createFairQueue<Task>(uploadCapacity),
    step: createFairQueue<Task>(Number.POSITIVE_INFINITY),
    report: createFairQueue<Task>(Number.POSITIVE_INFINITY),
    job: createFairQueue<Task>(Number.POSITIVE_INFINITY),
  };
  const times = { request: createWorkerTimes(), job: createWorkerTimes() };
  let stepsInRow = 0;

  const isJob = ({ kind }: Task) => kind === 'job';
  const timesOf = (task: Task) => (isJob(task) ? times.job : times.request);
  const timeOf = (task: Task) => timesOf(task).of(task.account);
  /** Uploads and reports, and jobs, that could run. The order within an account: uploads, reports, paused tasks. */
  const requestsOf = ({ paused, isFull }: Started<Task>) => [
    ...(isFull ? [] : [...queues.upload.heads(), ...queues.report.heads()]),
    ...[...paused].filter((task) => !isJob(task)),
  ];
  const jobsOf = ({ paused, hasMaxJobs }: Started<Task>) => [
    ...(hasMaxJobs ? [] : queues.job.heads()),
    ...[...paused].filter(isJob),
  ];

  /** The last task of the account with the least time. */
  function leastOf(tasks: readonly Task[]): Task | null {
    const candidates = new Map(tasks.map((task) => [task.account, task]));
    let chosen: Task | null = null;
    for (const task of candidates.values())
      if (chosen === null || timeOf(task) < timeOf(chosen)) chosen = task;
    return chosen;
  }

  const remove = (task: Task) => queues[task.kind].remove(task.account, task);

  return {
    uploads: queues.upload,
    stats: () => ({
      queued: queues.upload.size() + queues.step.size() + queues.report.size(),
      accounts: queues.upload.accounts(),
    }),
    all: () => Object.values(queues).flatMap((queue) => queue.all()),
    add(task: Task): void {
      timesOf(task).enter(task.account);
      queues[task.kind].add(task.account, task);
    },
    remove,
    /** Called once for each added task, after its end. */
    end: (task: Task) => timesOf(task).leave(task.account),
    /** Adds time for which a task ran. */
    charge: (task: Task, ms: number) => timesOf(task).add(task.account, ms),
    /** Removes and returns the next task of a worker, or returns one of its paused tasks: a step, or the chosen task. */
    next(started: Started<Task>): Task | null {
      const isStepNext = queues.step.size() > 0 && stepsInRow < maxStepsInRow;
      const other = isStepNext ? null : (leastOf(requestsOf(started)) ?? leastOf(jobsOf(started)));
      const task = other ?? queues.step.next();
      if (task === null) return null;
      stepsInRow = task.kind === 'step' ? stepsInRow + 1 : 0;
      if (other !== null) remove(other);
      return task;
    },
    /** ms after which a step, or a task of another account, runs in place of this one; null: none waits. */
    sliceOf(task: Task, started: Started<Task>): number | null {
      if (task.kind === 'step') return null;
      const requests = requestsOf(started);
      if (isJob(task) && queues.step.size() + requests.length > 0) return 0;
      const others = isJob(task) ? jobsOf(started) : requests;
      const isContested = queues.step.size() > 0 || others.some(({ account }) => account !== task.account);
      return isContested ? timeSliceMs : null;
    },
  };
}

/** Time of workers, ms, by account. An account without tasks saves no time up: it begins with the least of the others. */
function createWorkerTimes() {
  const accounts = new Map<string, { ms: number; tasks: number }>();

  function least(): number {
    const busy = [...accounts.values()].filter(({ tasks }) => tasks > 0);
    return Math.min(...busy.map(({ ms }) => ms));
  }

  return {
    of: (account: string) => accounts.get(account)?.ms ?? 0,
    enter(account: string): void {
      const entry = accounts.get(account) ?? { ms: 0, tasks: 0 };
      const floor = least();
      if (entry.tasks === 0 && Number.isFinite(floor)) entry.ms = Math.max(entry.ms, floor);
      entry.tasks++;
      accounts.set(account, entry);
    },
    /** Forgets accounts that would begin with the least of the others. */
    leave(account: string): void {
      const entry = accounts.get(account);
      if (entry !== undefined) entry.tasks--;
      const floor = least();
      for (const [name, { ms, tasks }] of accounts) if (tasks === 0 && ms <= floor) accounts.delete(name);
    },
    add(account: string, ms: number): void {
      const entry = accounts.get(account);
      if (entry !== undefined) entry.ms += ms;
    },
  };
}
