/** The tasks that wait for a worker. Accounts share the workers by the time that their tasks run, not by their number. */
import { createFairQueue } from './fair-queue.ts';

/** Uploads are bounded. Steps and reports of live sessions are never refused. */
export type TaskKind = 'upload' | 'step' | 'report';

type Waiting = { readonly account: string; readonly kind: TaskKind };

/** The tasks that a worker has started and paused. */
export type Started<Task> = {
  readonly paused: ReadonlySet<Task>;
  /** The worker starts no further task but steps. */
  readonly isFull: boolean;
};

/** Steps that run before a waiting task of another kind. */
const maxStepsInRow = 4;

export function createTaskQueues<Task extends Waiting>(uploadCapacity: number) {
  const queues = {
    upload: createFairQueue<Task>(uploadCapacity),
    step: createFairQueue<Task>(Number.POSITIVE_INFINITY),
    report: createFairQueue<Task>(Number.POSITIVE_INFINITY),
  };
  const times = createWorkerTimes();
  let stepsInRow = 0;

  /** The task of the account with the least time. The order within an account: paused tasks, reports, uploads. */
  function choose({ paused, isFull }: Started<Task>): Task | null {
    const candidates = new Map<string, Task>();
    for (const queue of isFull ? [] : [queues.upload, queues.report])
      for (const task of queue.heads()) candidates.set(task.account, task);
    for (const task of paused) candidates.set(task.account, task);
    let chosen: Task | null = null;
    for (const task of candidates.values())
      if (chosen === null || times.of(task.account) < times.of(chosen.account)) chosen = task;
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
      times.enter(task.account);
      queues[task.kind].add(task.account, task);
    },
    remove,
    /** Called once for each added task, after its end. */
    end: ({ account }: Task) => times.leave(account),
    /** Adds time for which a task ran. */
    charge: ({ account }: Task, ms: number) => times.add(account, ms),
    /** Removes and returns the next task of a worker, or returns one of its paused tasks: a step, or the chosen task. */
    next(started: Started<Task>): Task | null {
      const isStepNext = queues.step.size() > 0 && stepsInRow < maxStepsInRow;
      const other = isStepNext ? null : choose(started);
      const task = other ?? queues.step.next();
      if (task === null) return null;
      stepsInRow = task.kind === 'step' ? stepsInRow + 1 : 0;
      if (other !== null) remove(other);
      return task;
    },
    /** Whether a step, or a task of another account, could run in place of this one. */
    isContested({ account, kind }: Task, { paused, isFull }: Started<Task>): boolean {
      if (kind === 'step') return false;
      const isOther = (name: string) => name !== account;
      if (queues.step.size() > 0 || [...paused].some((task) => isOther(task.account))) return true;
      const waiting = [...queues.upload.heads(), ...queues.report.heads()];
      return !isFull && waiting.some((task) => isOther(task.account));
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
      const own = accounts.get(account) ?? { ms: 0, tasks: 0 };
      const floor = least();
      if (own.tasks === 0 && Number.isFinite(floor)) own.ms = Math.max(own.ms, floor);
      own.tasks++;
      accounts.set(account, own);
    },
    /** Forgets accounts that would begin with the least of the others. */
    leave(account: string): void {
      const own = accounts.get(account);
      if (own !== undefined) own.tasks--;
      const floor = least();
      for (const [name, { ms, tasks }] of accounts) if (tasks === 0 && ms <= floor) accounts.delete(name);
    },
    add(account: string, ms: number): void {
      const own = accounts.get(account);
      if (own !== undefined) own.ms += ms;
    },
  };
}
