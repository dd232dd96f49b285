/**
 * Analysis threads behind one bounded queue. A deadline or a disconnected client sets the flag of the task, which its
 * thread reads between its stages: running threads are not terminated. A crash in native code ends the process.
 */

import { deserializeError, ServiceError } from '../runtime/errors.ts';
import { entryFile } from '../runtime/worker-entries.ts';
import { areCoresIdle } from './cores.ts';
import { createFairQueue } from './fair-queue.ts';
import type { Reply, Task, TaskMessage, ThreadSettings } from './protocol.ts';
import { createThreadPool, deferred, ThreadLostError, type ThreadPool } from './thread-pool.ts';

/** Uploads are bounded. Steps and reports of live sessions are never refused. */
export type TaskKind = 'upload' | 'step' | 'report';

export type AnalysisResult = Omit<Extract<Reply, { kind: 'report' }>, 'kind'>;

export type PendingAnalysis = {
  /** Null when cancelled. */
  readonly result: Promise<AnalysisResult | null>;
  cancel(): void;
};

export type SubmitOptions = {
  /** The task counts against the share of this account. */
  readonly account: string;
  /** Called once, when the pool no longer holds the body. */
  release(): void;
} & TaskLimit;

export type TaskLimit =
  | {
      /** `upload` by default. */
      readonly kind?: Exclude<TaskKind, 'report'>;
      /** In ms, as performance.now(). */
      readonly deadlineAt: number;
    }
  | {
      readonly kind: 'report';
      /** From its start on a worker. */
      readonly maxRunMs: number;
    };

export type PoolStats = {
  readonly queued: number;
  readonly running: number;
  /** Workers that died. */
  readonly lost: number;
  /** Accounts with queued tasks. */
  readonly accounts: number;
  /** Queued tasks that were failed in favour of another account. */
  readonly displaced: number;
};

export type Pool = {
  /** Resolves when every worker has loaded its models. Rejects when one cannot start. */
  readonly started: Promise<void>;
  /** Whether a worker is ready. */
  warm(): boolean;
  /** Whether `submit` accepts a task of the account now. */
  accepts(account: string): boolean;
  /** How long every account has been refused without interruption. */
  fullForMs(): number;
  /** @throws ServiceError `overloaded` */
  submit(task: Task, options: SubmitOptions): PendingAnalysis;
  /** Fails every queued and running task. */
  failAll(failure: ServiceError): void;
  stats(): PoolStats;
  close(): Promise<void>;
};

type PoolOptions = {
  /** Threads. Each runs one task at a time. */
  readonly workers: number;
  /** Maximum number of queued tasks. */
  readonly queue: number;
  readonly settings: ThreadSettings;
  /** Entry file of the threads; see ThreadPoolOptions. */
  readonly file?: string;
  onLost?(cause: Error): void;
};

type Entry = {
  readonly account: string;
  readonly kind: TaskKind;
  readonly task: Task;
  readonly queuedAt: number;
  /** Null for a report that waits. */
  timer: NodeJS.Timeout | null;
  startTimer(): void;
  readonly release: () => void;
  readonly resolve: (result: AnalysisResult | null) => void;
  readonly reject: (error: Error) => void;
  /** Shared with the thread: a value other than 0 stops the task. */
  readonly cancel: Int32Array;
};

type Threads = ThreadPool<TaskMessage, Reply>;

const heapMebibytes = 512;
const closePollMs = 10;
/** Longer than any stage: an exit while a thread runs inference aborts the process. */
const maxCloseMs = 10_000;

export function createPool(options: PoolOptions): Pool {
  const threads = openThreads(options, update);
  const queues = createTaskQueues<Entry>(options.queue);
  const running = new Set<Entry>();
  let fullSince: number | null = null;
  let displaced = 0;

  const idle = () => running.size < threads.ready();
  const accepts = (account: string) => idle() || queues.uploads.accepts(account);

  function update(): void {
    while (idle()) {
      const entry = queues.next(acceptsReport());
      if (entry === null) break;
      void work(entry);
    }
    fullSince = !idle() && queues.uploads.refusesAll() ? (fullSince ?? performance.now()) : null;
  }

  /** Reports can take seconds: one worker is left for steps, unless there is only one. */
  const acceptsReport = () => reportsOf(running) < Math.max(1, threads.ready() - 1);

  function queue(entry: Entry): void {
    const victim = entry.kind === 'upload' ? queues.uploads.victim() : null;
    if (victim !== null) {
      displaced++;
      fail(victim, displacedError());
    }
    queues.add(entry);
  }

  async function work(entry: Entry): Promise<void> {
    running.add(entry);
    if (entry.timer === null) entry.startTimer();
    const queueMs = performance.now() - entry.queuedAt;
    const { task, cancel } = entry;
    const hasIdleCores = areCoresIdle(running.size);
    try {
      settle(
        entry,
        await threads.run({ ...task, cancel, hasIdleCores }, 'body' in task ? task.body : []),
        queueMs,
      );
    } catch (cause) {
      const lost = new ServiceError('worker_lost', 'The worker of this request ended unexpectedly');
      entry.reject(cause instanceof ThreadLostError ? lost : (cause as Error));
    }
    clearTimeout(entry.timer ?? undefined);
    running.delete(entry);
    entry.release();
    update();
  }

  /** Removes the task from the queue, or sets its flag: its worker stays busy until it has read the flag. */
  function stop(entry: Entry): void {
    Atomics.store(entry.cancel, 0, 1);
    clearTimeout(entry.timer ?? undefined);
    if (!queues.remove(entry)) return;
    entry.release();
    update();
  }

  function fail(entry: Entry, failure: ServiceError): void {
    stop(entry);
    entry.reject(failure);
  }

  function submit(task: Task, { account, release, ...limit }: SubmitOptions): PendingAnalysis {
    const { kind = 'upload' } = limit;
    if (kind === 'upload' && !accepts(account)) {
      release();
      throw queueFull();
    }
    const { promise, ...settlers } = deferred<AnalysisResult | null>();
    const queuedAt = performance.now();
    const onDeadline = () => fail(entry, new ServiceError('deadline', 'The request exceeded its deadline'));
    const startTimer = () => {
      const ms = limit.kind === 'report' ? limit.maxRunMs : msUntil(limit.deadlineAt);
      entry.timer = setTimeout(onDeadline, ms);
    };
    const cancel = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const shared = { account, kind, task, queuedAt, release, cancel };
    const entry: Entry = { ...shared, ...settlers, timer: null, startTimer };
    if (kind !== 'report') startTimer();
    if (idle() && (kind !== 'report' || acceptsReport())) void work(entry);
    else queue(entry);
    update();
    return {
      result: promise,
      cancel: () => {
        stop(entry);
        settlers.resolve(null);
      },
    };
  }

  return {
    started: threads.started,
    warm: () => threads.ready() > 0,
    accepts,
    fullForMs: () => (fullSince === null ? 0 : performance.now() - fullSince),
    submit,
    failAll: (failure) => {
      for (const entry of [...queues.all(), ...running]) fail(entry, failure);
    },
    stats: () => ({ ...queues.stats(), running: running.size, lost: threads.lost(), displaced }),
    close: () => close(running, threads),
  };
}

function openThreads({ workers, ...options }: PoolOptions, onReady: () => void): Threads {
  const file = entryFile('workers/analysis-thread');
  return createThreadPool({ file, ...options, threads: workers, heapMebibytes, onReady });
}

const msUntil = (at: number) => Math.max(0, at - performance.now());

function reportsOf(running: ReadonlySet<Entry>): number {
  return [...running].filter(({ kind }) => kind === 'report').length;
}

/** The queue is full and the account has used its share of it. */
export function queueFull(): ServiceError {
  return new ServiceError('overloaded', 'All workers are busy and the queue is full');
}

function displacedError(): ServiceError {
  return new ServiceError('overloaded', 'The queue is full and another account is within its share of it');
}

function settle(entry: Entry, reply: Reply, queueMs: number): void {
  if (reply.kind === 'failure') entry.reject(deserializeError(reply.failure));
  else if (reply.kind === 'internalError') entry.reject(new Error(reply.cause));
  else {
    const { kind: _, stages, ...result } = reply;
    entry.resolve({ ...result, stages: [{ name: 'queue', ms: queueMs }, ...stages] });
  }
}

/** Waits a limited time for running tasks. */
async function close(running: ReadonlySet<Entry>, threads: Threads): Promise<void> {
  const deadline = performance.now() + maxCloseMs;
  while (running.size > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, closePollMs));
  }
  await threads.close();
}

type Queued = { readonly account: string; readonly kind: TaskKind };

/** Steps that run before a waiting task of another kind. */
const maxStepsInRow = 4;

/** The waiting tasks, fair to accounts within each kind. */
export function createTaskQueues<Task extends Queued>(uploadCapacity: number) {
  const queues = {
    upload: createFairQueue<Task>(uploadCapacity),
    step: createFairQueue<Task>(Number.POSITIVE_INFINITY),
    report: createFairQueue<Task>(Number.POSITIVE_INFINITY),
  };
  let stepsInRow = 0;
  let previous: TaskKind = 'upload';

  /** Steps first, but for one task of another kind in `maxStepsInRow`. Uploads and reports take turns. */
  function order(): TaskKind[] {
    const others: TaskKind[] = previous === 'report' ? ['upload', 'report'] : ['report', 'upload'];
    return stepsInRow < maxStepsInRow ? ['step', ...others] : [...others, 'step'];
  }

  function taken(task: Task): Task {
    stepsInRow = task.kind === 'step' ? stepsInRow + 1 : 0;
    if (task.kind !== 'step') previous = task.kind;
    return task;
  }

  return {
    uploads: queues.upload,
    stats: () => ({
      queued: queues.upload.size() + queues.step.size() + queues.report.size(),
      accounts: queues.upload.accounts(),
    }),
    all: () => Object.values(queues).flatMap((queue) => queue.all()),
    add: (task: Task) => queues[task.kind].add(task.account, task),
    remove: (task: Task) => queues[task.kind].remove(task.account, task),
    /** @param reports whether a report may run now */
    next(reports: boolean): Task | null {
      for (const kind of order()) {
        const task = kind === 'report' && !reports ? null : queues[kind].next();
        if (task !== null) return taken(task);
      }
      return null;
    },
  };
}
