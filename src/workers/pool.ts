/**
 * The analysis threads and the bounded queue before them. A thread is never ended in mid-run: a
 * deadline or a client that left raises the task's flag, which the thread checks between its stages.
 */
import { Piscina } from 'piscina';
import { Failure, toFailure } from '../errors.ts';
import { threadFile } from '../threads.ts';
import type { Stage } from '../watch.ts';
import {
  flags,
  type Reply,
  type Task,
  type TaskMessage,
  type ThreadReady,
  type ThreadSettings,
} from './messages.ts';

export type Answer = { readonly json: Uint8Array; readonly stages: readonly Stage[] };

export type Job = {
  /** Null when it was cancelled. */
  readonly answer: Promise<Answer | null>;
  /** For a client that left: nobody waits for the answer any more. */
  cancel(): void;
};

export type JobOptions = {
  /** On the clock of performance.now(). */
  readonly deadlineAt: number;
  /** Called once, when the body's bytes are held no longer. */
  release(): void;
};

export type PoolFigures = { readonly queued: number; readonly running: number; readonly lost: number };

export type Pool = {
  /** Resolves when every thread has its models; rejects when one cannot start. */
  readonly started: Promise<void>;
  warm(): boolean;
  full(): boolean;
  /** Milliseconds for which the queue has been full without a break. */
  fullFor(): number;
  start(task: Task, options: JobOptions): Job;
  /** Fails every request that is queued or running. */
  failAll(failure: Failure): void;
  figures(): PoolFigures;
  close(): Promise<void>;
};

export type PoolOptions = {
  readonly workers: number;
  /** Tasks that may wait. */
  readonly queue: number;
  readonly settings: ThreadSettings;
  /** The file each thread runs; it exports `run` and posts a ThreadReady. */
  readonly file?: string;
  /** Hears why a thread was lost. */
  onLost?(cause: Error): void;
};

type Entry = {
  readonly task: Task;
  readonly flag: Int32Array;
  readonly queuedAt: number;
  readonly timer: NodeJS.Timeout;
  readonly release: () => void;
  readonly resolve: (answer: Answer | null) => void;
  readonly reject: (error: Error) => void;
};

const heapMebibytes = 512;
const reviveAfterMs = 500;
const closePollMs = 10;
const closeWithinMs = 2000;

export function createPool(options: PoolOptions): Pool {
  const threads = createThreads(options);
  const waiting = new Set<Entry>();
  const running = new Set<Entry>();
  let fullSince: number | null = null;

  const full = () => waiting.size >= options.queue && running.size >= options.workers;

  function update(): void {
    for (const entry of waiting) {
      if (running.size >= options.workers) break;
      waiting.delete(entry);
      void work(entry);
    }
    fullSince = full() ? (fullSince ?? performance.now()) : null;
  }

  async function work(entry: Entry): Promise<void> {
    running.add(entry);
    const queueMs = performance.now() - entry.queuedAt;
    try {
      settle(entry, await threads.run({ ...entry.task, cancel: entry.flag }), queueMs);
    } catch (cause) {
      options.onLost?.(cause as Error);
      entry.reject(new Failure('worker_lost', 'The worker that had this request was lost'));
    }
    clearTimeout(entry.timer);
    running.delete(entry);
    entry.release();
    update();
  }

  /** Ends the wait for an answer; a running thread keeps its place until it has noticed the flag. */
  function stop(entry: Entry, flag: number): void {
    Atomics.store(entry.flag, 0, flag);
    clearTimeout(entry.timer);
    if (!waiting.delete(entry)) return;
    entry.release();
    update();
  }

  function fail(entry: Entry, failure: Failure): void {
    stop(entry, flags.deadline);
    entry.reject(failure);
  }

  function start(task: Task, { deadlineAt, release }: JobOptions): Job {
    if (full()) {
      release();
      throw queueFull();
    }
    const { promise, resolve, reject } = deferred<Answer | null>();
    const now = performance.now();
    const late = () => fail(entry, new Failure('deadline', 'The request took longer than it may'));
    const entry: Entry = {
      task,
      flag: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
      queuedAt: now,
      timer: setTimeout(late, Math.max(0, deadlineAt - now)),
      release,
      resolve,
      reject,
    };
    waiting.add(entry);
    update();
    const cancel = () => {
      stop(entry, flags.cancelled);
      resolve(null);
    };
    return { answer: promise, cancel };
  }

  return {
    started: threads.started,
    warm: threads.warm,
    full,
    fullFor: () => (fullSince === null ? 0 : performance.now() - fullSince),
    start,
    failAll: (failure) => {
      for (const entry of [...waiting, ...running]) fail(entry, failure);
    },
    figures: () => ({ queued: waiting.size, running: running.size, lost: threads.lost() }),
    close: () => close(running, threads),
  };
}

/** Of a task that there is no place for. */
export function queueFull(): Failure {
  return new Failure('overloaded', 'All workers are busy and the queue is full');
}

function settle(entry: Entry, reply: Reply, queueMs: number): void {
  if (reply.kind === 'failure') entry.reject(toFailure(reply.failure));
  else if (reply.kind === 'fault') entry.reject(new Error(reply.cause));
  else entry.resolve({ json: reply.json, stages: [{ name: 'queue', ms: queueMs }, ...reply.stages] });
}

/** Threads that still run are waited for, and left alone when they take too long. */
async function close(running: ReadonlySet<Entry>, threads: Threads): Promise<void> {
  const until = performance.now() + closeWithinMs;
  while (running.size > 0 && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, closePollMs));
  }
  if (running.size === 0) await threads.close();
}

type Threads = {
  readonly started: Promise<void>;
  warm(): boolean;
  lost(): number;
  run(message: TaskMessage): Promise<Reply>;
  close(): Promise<void>;
};

/** Threads that die are replaced; when none can start at all, `started` rejects and nothing is retried. */
function createThreads(options: PoolOptions): Threads {
  const { promise: started, resolve, reject } = deferred<void>();
  const warm = new Set<number>();
  let lost = 0;
  let closed = false;
  let startedUp = false;
  let piscina = open();

  function open(): Piscina {
    const opened = new Piscina({
      filename: options.file ?? threadFile('workers/task'),
      name: 'run',
      minThreads: options.workers,
      maxThreads: options.workers,
      workerData: options.settings,
      resourceLimits: { maxOldGenerationSizeMb: heapMebibytes },
      recordTiming: false,
    });
    opened.on('message', (message: ThreadReady) => {
      warm.add(message.ready);
      if (warm.size < options.workers) return;
      startedUp = true;
      resolve();
    });
    opened.on('error', (cause: Error) => failed(opened, cause));
    return opened;
  }

  /** A thread that fails while it loads is not replaced by piscina: a new set is opened in its place. */
  function failed(opened: Piscina, cause: Error): void {
    if (closed || opened !== piscina) return;
    if (!startedUp) {
      closed = true;
      reject(cause);
      void opened.destroy();
      return;
    }
    countLost(cause);
    setTimeout(() => {
      if (closed || opened !== piscina || opened.threads.length >= options.workers) return;
      piscina = open();
      void opened.close();
    }, reviveAfterMs).unref();
  }

  function countLost(cause: Error): void {
    lost++;
    options.onLost?.(cause);
  }

  async function run(message: TaskMessage): Promise<Reply> {
    try {
      return await piscina.run(message, {
        transferList: message.body.map(({ buffer }) => buffer as ArrayBuffer),
      });
    } catch (cause) {
      lost++;
      throw cause;
    }
  }

  return {
    started,
    warm: () => !closed && piscina.threads.some((thread) => warm.has(thread.threadId)),
    lost: () => lost,
    run,
    close: async () => {
      closed = true;
      await piscina.destroy();
    },
  };
}

function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}
