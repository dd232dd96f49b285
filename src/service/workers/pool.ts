/**
 * Analysis threads behind one bounded queue. A deadline or a disconnected client sets the flag of the task, which its
 * thread reads between its stages: running threads are not terminated. A crash in native code ends the process.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { entryFile } from '../../node/paths.ts';
import { releaseFreeMemory } from '../../node/process.ts';
import { deferred } from '../deferred.ts';
import { deserializeError, ServiceError } from '../errors.ts';
import { areCoresIdle } from './cores.ts';
import { createPauseFlag, type PauseFlag } from './pause-flag.ts';
import {
  buffersOf,
  type Reply,
  type Task,
  type TaskMessage,
  type TaskPaused,
  type TaskProgress,
  type ThreadSettings,
} from './protocol.ts';
import { createScheduler, maxTasksPerThread, type Scheduler, type TaskKind } from './scheduler.ts';
import { createThreadPool, ThreadLostError, type ThreadPool } from './threads.ts';

export type AnalysisResult = Omit<Extract<Reply, { kind: 'report' }>, 'kind'>;

export type PendingAnalysis = {
  /** Null when cancelled, and for a recording that belongs into the queue `long` of jobs. */
  readonly result: Promise<AnalysisResult | null>;
  cancel(): void;
};

type SubmitOptions = {
  /** The task counts against the share of this account. */
  readonly account: string;
  /** Called once, when the pool no longer holds the body. */
  release(): void;
} & TaskLimit;

export type TaskLimit =
  | {
      /** `upload` by default. */
      readonly kind?: 'upload' | 'step';
      /** In ms, as performance.now(). */
      readonly deadlineAt: number;
    }
  | {
      readonly kind: 'report';
      /** From its start on a worker. */
      readonly maxRunMs: number;
    }
  | {
      /** Runs while no task of another kind waits. */
      readonly kind: 'job';
      /** Called after each chunk of a long recording. */
      readonly onProgress: (analysedSeconds: number, declaredSeconds: number | null) => void;
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
  /** Resolves when the first worker has loaded its models. Rejects when it cannot start. */
  readonly ready: Promise<void>;
  /** Resolves when every worker has. One of the others that cannot start is replaced, as one that dies. */
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
  /** Waits a limited time for started tasks. */
  close(): Promise<void>;
};

export type PoolOptions = {
  /** Threads. Each runs one task at a time, and holds those that it has paused. */
  readonly workers: number;
  /** Maximum number of queued tasks. */
  readonly queue: number;
  readonly settings: ThreadSettings;
  /** Entry file of the threads; see ThreadPoolOptions. */
  readonly file?: string;
  /** Called when no task has run for two seconds. */
  readonly onIdle?: () => void;
  onLost?(cause: Error): void;
};

type Entry = {
  readonly id: number;
  readonly account: string;
  readonly kind: TaskKind;
  readonly task: Task;
  readonly queuedAt: number;
  /** Null for a report that waits, and for a job. */
  timer: NodeJS.Timeout | null;
  startTimer(): void;
  readonly onProgress: Extract<TaskLimit, { kind: 'job' }>['onProgress'];
  readonly release: () => void;
  readonly resolve: (result: AnalysisResult | null) => void;
  readonly reject: (error: Error) => void;
  /** Shared with the thread: a value other than 0 stops the task. */
  readonly cancel: Int32Array;
  readonly pauseFlag: PauseFlag;
};

type Threads = ThreadPool<TaskMessage, Reply>;

/** When no task has run for this long, free memory goes back to the system. */
const idleMs = 2000;
/** Measures and timelines of a report take 6 MB per hour of audio. */
const heapMebibytes = 1024;
const closePollMs = 10;
/** Longer than any stage: an exit while a thread runs inference aborts the process. */
const maxCloseMs = 10_000;

export function createPool(options: PoolOptions): Pool {
  const scheduler = createScheduler<Threads, Entry>({ queue: options.queue, run, onUpdate });
  const { threads, ready, started, close } = openThreads(options, scheduler);
  const { onIdle = releaseFreeMemory } = options;
  const idleTimer = setTimeout(() => scheduler.isEmpty() && onIdle(), idleMs).unref();
  let fullSince: number | null = null;
  let displaced = 0;
  let lastId = 0;

  const accepts = (account: string) => scheduler.idle() || scheduler.uploads.accepts(account);

  function onUpdate(): void {
    idleTimer.refresh();
    const isFull = !scheduler.idle() && scheduler.uploads.refusesAll();
    fullSince = isFull ? (fullSince ?? performance.now()) : null;
  }

  function queue(entry: Entry): void {
    const victim = entry.kind === 'upload' && !scheduler.idle() ? scheduler.uploads.victim() : null;
    if (victim !== null) {
      displaced++;
      fail(victim, displacedError());
    }
    scheduler.add(entry);
  }

  function stop(entry: Entry): void {
    clearTimeout(entry.timer ?? undefined);
    scheduler.stop(entry);
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
      if (limit.kind === 'job') return;
      const ms = limit.kind === 'report' ? limit.maxRunMs : msUntil(limit.deadlineAt);
      entry.timer = setTimeout(onDeadline, ms);
    };
    const cancel = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const shared = {
      id: ++lastId,
      account,
      kind,
      task,
      queuedAt,
      release,
      cancel,
      pauseFlag: createPauseFlag(),
    };
    const onProgress = limit.kind === 'job' ? limit.onProgress : () => {};
    const entry: Entry = { ...shared, ...settlers, timer: null, startTimer, onProgress };
    if (kind !== 'report') startTimer();
    queue(entry);
    return {
      result: promise,
      cancel: () => {
        stop(entry);
        settlers.resolve(null);
      },
    };
  }

  return {
    ready,
    started,
    warm: () => threads.some((thread) => thread.ready() > 0),
    accepts,
    fullForMs: () => (fullSince === null ? 0 : performance.now() - fullSince),
    submit,
    failAll: (failure) => {
      for (const entry of scheduler.all()) fail(entry, failure);
    },
    stats: () => {
      const lost = threads.reduce((sum, thread) => sum + thread.lost(), 0);
      return { ...scheduler.stats(), lost, displaced };
    },
    close: () => {
      clearTimeout(idleTimer);
      return close();
    },
  };
}

/** Opens the first thread, and the others once it is ready: meanwhile they would use its cores. */
function openThreads({ workers, ...options }: PoolOptions, scheduler: Scheduler<Threads, Entry>) {
  const threads: Threads[] = [];
  let isClosed = false;

  function open(start: { readonly retriesStart?: boolean } = {}): Threads {
    const thread = createThreadPool<TaskMessage, Reply, TaskPaused | TaskProgress>({
      file: entryFile('service/workers/analysis-thread'),
      ...options,
      ...start,
      threads: 1,
      tasksPerThread: maxTasksPerThread,
      heapMebibytes,
      onReady: () => scheduler.update(),
      onNote,
    });
    threads.push(thread);
    scheduler.addThread(thread);
    return thread;
  }

  function onNote(note: TaskPaused | TaskProgress): void {
    if ('paused' in note) scheduler.onPaused(note.paused);
    else {
      const { progressed, analysedSeconds, declaredSeconds } = note;
      const entry = scheduler.all().find(({ id }) => id === progressed);
      entry?.onProgress(analysedSeconds, declaredSeconds);
    }
  }

  async function openOthers(): Promise<void> {
    while (!isClosed && threads.length < workers) open({ retriesStart: true });
    await Promise.all(threads.map((thread) => thread.started));
  }

  const ready = open().started;
  const started = ready.then(openOthers);
  // A caller need not await it.
  started.catch(() => {});
  return {
    threads,
    ready,
    started,
    close: async () => {
      isClosed = true;
      const deadline = performance.now() + maxCloseMs;
      while (!scheduler.isEmpty() && performance.now() < deadline) await sleep(closePollMs);
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

async function run(threads: Threads, entry: Entry, running: number): Promise<void> {
  if (entry.timer === null) entry.startTimer();
  const queueMs = performance.now() - entry.queuedAt;
  const { id, task, cancel, pauseFlag } = entry;
  // A job leaves the other cores to requests that arrive later.
  const hasIdleCores = entry.kind !== 'job' && areCoresIdle(running);
  const message = { ...task, id, cancel, pauseFlag, hasIdleCores };
  try {
    settle(entry, await threads.run(message, buffersOf(task)), queueMs);
  } catch (cause) {
    const lost = new ServiceError('worker_lost', 'The worker of this request ended unexpectedly');
    entry.reject(cause instanceof ThreadLostError ? lost : (cause as Error));
  }
  clearTimeout(entry.timer ?? undefined);
}

const msUntil = (at: number) => Math.max(0, at - performance.now());

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
  else if (reply.kind === 'long') entry.resolve(null);
  else {
    const { kind: _, stages, ...result } = reply;
    entry.resolve({ ...result, stages: [{ name: 'queue', ms: queueMs }, ...stages] });
  }
}
