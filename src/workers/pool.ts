/**
 * The workers and the bounded queue before them. A worker is not ended in mid-run: a deadline or a
 * client that left raises the task's flag, which the worker looks at between its stages.
 */

import type { Stage } from '../analysis/stage-timer.ts';
import { deserializeError, ServiceError } from '../runtime/errors.ts';
import { createFairQueue } from './fair-queue.ts';
import { createProcesses } from './processes.ts';
import { flags, type Reply, type Task } from './protocol.ts';
import { createThreads } from './threads.ts';
import { deferred, type Run, type Workers, type WorkersOptions } from './workers.ts';

export type AnalysisResult = { readonly json: Uint8Array; readonly stages: readonly Stage[] };

export type PendingAnalysis = {
  /** Null when it was cancelled. */
  readonly result: Promise<AnalysisResult | null>;
  /** For a client that left: nobody waits for the answer any more. */
  cancel(): void;
};

export type SubmitOptions = {
  /** Whose share of the queue the task uses. */
  readonly account: string;
  /** On the clock of performance.now(). */
  readonly deadlineAt: number;
  /** Called once, when the body's bytes are held no longer. */
  release(): void;
};

export type PoolStats = {
  readonly queued: number;
  readonly running: number;
  /** Workers that died. */
  readonly lost: number;
  /** Accounts with tasks that wait. */
  readonly accounts: number;
  /** Tasks that gave their place in the queue to another account. */
  readonly displaced: number;
};

export type Pool = {
  /** Resolves when every worker has its models; rejects when one cannot start. */
  readonly started: Promise<void>;
  warm(): boolean;
  /** Whether a task of the account would find a worker or a place in the queue. */
  accepts(account: string): boolean;
  /** Milliseconds for which no account has been accepted, without a break. */
  fullForMs(): number;
  submit(task: Task, options: SubmitOptions): PendingAnalysis;
  /** Fails every request that is queued or running. */
  failAll(failure: ServiceError): void;
  stats(): PoolStats;
  close(): Promise<void>;
};

export type PoolOptions = WorkersOptions & {
  /** Tasks that may wait. */
  readonly queue: number;
  /** Null: the workers are threads. Else they are processes with this environment. */
  readonly processes?: { readonly env: Readonly<Record<string, string | undefined>> } | null;
};

type Entry = {
  readonly account: string;
  readonly task: Task;
  readonly queuedAt: number;
  readonly timer: NodeJS.Timeout;
  readonly release: () => void;
  readonly resolve: (answer: AnalysisResult | null) => void;
  readonly reject: (error: Error) => void;
  /** Null while it waits. */
  run: Run | null;
};

const closePollMs = 10;
/** Longer than any stage takes: ending the process while a thread is inside the model runtime would abort it. */
const closeWithinMs = 10_000;

export function createPool(options: PoolOptions): Pool {
  const { processes = null } = options;
  const workers = processes === null ? createThreads(options) : createProcesses({ ...options, ...processes });
  const waiting = createFairQueue<Entry>(options.queue);
  const running = new Set<Entry>();
  let fullSince: number | null = null;
  let displaced = 0;

  const idle = () => running.size < options.workers;
  const accepts = (account: string) => idle() || waiting.accepts(account);

  function update(): void {
    while (idle()) {
      const entry = waiting.next();
      if (entry === null) break;
      void work(entry);
    }
    fullSince = !idle() && waiting.refusesAll() ? (fullSince ?? performance.now()) : null;
  }

  function queue(entry: Entry): void {
    const victim = waiting.victim();
    if (victim !== null) {
      displaced++;
      fail(victim, displacedError());
    }
    waiting.add(entry.account, entry);
  }

  async function work(entry: Entry): Promise<void> {
    running.add(entry);
    const queueMs = performance.now() - entry.queuedAt;
    entry.run = workers.run(entry.task);
    try {
      settle(entry, await entry.run.reply, queueMs);
    } catch {
      entry.reject(new ServiceError('worker_lost', 'The worker that had this request was lost'));
    }
    clearTimeout(entry.timer);
    running.delete(entry);
    entry.release();
    update();
  }

  /** Ends the wait for an answer; a running worker keeps its place until it has noticed the flag. */
  function stop(entry: Entry, flag: number): void {
    entry.run?.stop(flag);
    clearTimeout(entry.timer);
    if (!waiting.remove(entry.account, entry)) return;
    entry.release();
    update();
  }

  function fail(entry: Entry, failure: ServiceError): void {
    stop(entry, flags.deadline);
    entry.reject(failure);
  }

  function submit(task: Task, { account, deadlineAt, release }: SubmitOptions): PendingAnalysis {
    if (!accepts(account)) {
      release();
      throw queueFull();
    }
    const { promise, resolve, reject } = deferred<AnalysisResult | null>();
    const now = performance.now();
    const late = () => fail(entry, new ServiceError('deadline', 'The request took longer than it may'));
    const entry: Entry = {
      account,
      task,
      queuedAt: now,
      timer: setTimeout(late, Math.max(0, deadlineAt - now)),
      release,
      resolve,
      reject,
      run: null,
    };
    if (idle()) void work(entry);
    else queue(entry);
    update();
    const cancel = () => {
      stop(entry, flags.cancelled);
      resolve(null);
    };
    return { result: promise, cancel };
  }

  return {
    started: workers.started,
    warm: workers.warm,
    accepts,
    fullForMs: () => (fullSince === null ? 0 : performance.now() - fullSince),
    submit,
    failAll: (failure) => {
      for (const entry of [...waiting.all(), ...running]) fail(entry, failure);
    },
    stats: () => ({
      queued: waiting.size(),
      running: running.size,
      lost: workers.lost(),
      accounts: waiting.accounts(),
      displaced,
    }),
    close: () => close(running, workers),
  };
}

/** For an account whose share of the queue is used up. */
export function queueFull(): ServiceError {
  return new ServiceError('overloaded', 'All workers are busy and the queue is full');
}

function displacedError(): ServiceError {
  return new ServiceError('overloaded', 'The queue is full and another account is within its share of it');
}

function settle(entry: Entry, reply: Reply, queueMs: number): void {
  if (reply.kind === 'failure') entry.reject(deserializeError(reply.failure));
  else if (reply.kind === 'fault') entry.reject(new Error(reply.cause));
  else entry.resolve({ json: reply.json, stages: [{ name: 'queue', ms: queueMs }, ...reply.stages] });
}

/** Workers that still run are waited for, but not for ever. */
async function close(running: ReadonlySet<Entry>, workers: Workers): Promise<void> {
  const until = performance.now() + closeWithinMs;
  while (running.size > 0 && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, closePollMs));
  }
  await workers.close();
}
