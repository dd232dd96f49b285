/**
 * The workers behind one bounded queue. A deadline or a disconnected client sets the flag of the task, which the worker
 * reads between its stages: running workers are not terminated.
 */

import { deserializeError, ServiceError } from '../runtime/errors.ts';
import { areCoresIdle } from './cores.ts';
import { createProcesses } from './processes.ts';
import type { Reply, Task } from './protocol.ts';
import { createTaskQueues, type TaskKind } from './task-queues.ts';
import { createThreads } from './threads.ts';
import { deferred, type Run, type Workers, type WorkersOptions } from './workers.ts';

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

type PoolOptions = Omit<WorkersOptions, 'onReady'> & {
  /** Maximum number of queued tasks. */
  readonly queue: number;
  /** Null for threads; otherwise the environment of the analysis processes. */
  readonly processes?: { readonly env: Readonly<Record<string, string | undefined>> } | null;
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
  /** Null while queued. */
  run: Run | null;
};

const closePollMs = 10;
/** Longer than any stage: an exit while a thread runs inference aborts the process. */
const maxCloseMs = 10_000;

export function createPool(options: PoolOptions): Pool {
  const { processes = null } = options;
  const shared = { ...options, onReady: update };
  const workers = processes === null ? createThreads(shared) : createProcesses({ ...shared, ...processes });
  const queues = createTaskQueues<Entry>(options.queue);
  const running = new Set<Entry>();
  let fullSince: number | null = null;
  let displaced = 0;

  const idle = () => running.size < workers.ready();
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
  const acceptsReport = () => reportsOf(running) < Math.max(1, workers.ready() - 1);

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
    try {
      entry.run = workers.run(entry.task, areCoresIdle(running.size));
      settle(entry, await entry.run.reply, queueMs);
    } catch {
      entry.reject(new ServiceError('worker_lost', 'The worker of this request ended unexpectedly'));
    }
    clearTimeout(entry.timer ?? undefined);
    running.delete(entry);
    entry.release();
    update();
  }

  /** Removes the task from the queue, or sets its flag: its worker stays busy until it has read the flag. */
  function stop(entry: Entry): void {
    entry.run?.stop();
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
    const shared = { account, kind, task, queuedAt, release };
    const entry: Entry = { ...shared, ...settlers, timer: null, startTimer, run: null };
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
    started: workers.started,
    warm: () => workers.ready() > 0,
    accepts,
    fullForMs: () => (fullSince === null ? 0 : performance.now() - fullSince),
    submit,
    failAll: (failure) => {
      for (const entry of [...queues.all(), ...running]) fail(entry, failure);
    },
    stats: () => ({
      queued: queues.size(),
      running: running.size,
      lost: workers.lost(),
      accounts: queues.uploads.accounts(),
      displaced,
    }),
    close: () => close(running, workers),
  };
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
async function close(running: ReadonlySet<Entry>, workers: Workers): Promise<void> {
  const deadline = performance.now() + maxCloseMs;
  while (running.size > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, closePollMs));
  }
  await workers.close();
}
