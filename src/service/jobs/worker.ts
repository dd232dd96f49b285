/** Analyses jobs on the threads of a pool, stores results and sends callbacks: in `undertone worker`, or in the service. */
import type { Logger } from 'pino';
import type { Usage } from '../auth/usage.ts';
import { createCache } from '../cache.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database.ts';
import { createFairBudget, createFairSemaphore } from '../fair-share.ts';
import type { ReceiptKeys } from '../receipt-keys.ts';
import type { Pool } from '../workers/pool.ts';
import type { JobQueueName } from '../workers/protocol.ts';
import { processCallback } from './callback.ts';
import type { Cipher } from './cipher.ts';
import { createJobStore } from './job-store.ts';
import { markLost, processAnalysis } from './process-analysis.ts';
import type { Queues, QueueWorker, WorkerKind, WorkOptions } from './queues.ts';
import type { WorkerContext } from './start-job.ts';
import type { StoredResults } from './stored-results.ts';
import type { UploadStore } from './upload-store.ts';

export type JobWorker = {
  /** Drains: running jobs return to the queue after `shutdownSeconds`. */
  stop(): Promise<void>;
  /** Returns running jobs to the queue at once. */
  abort(): Promise<void>;
};

const maxCallbacks = 64;
const maxSlowFetches = 64;
const queueNames = ['analyses', 'long'] as const satisfies readonly JobQueueName[];

/** What a worker takes its jobs from. */
type JobSource = {
  readonly queues: Queues;
  readonly uploadStore: UploadStore;
  close(): Promise<void>;
};

/** By a connection of its own, which waits while Redis is unreachable. @throws PersistenceError */
export async function openRedisSource(
  redisUrl: string,
  cipher: Cipher,
  { jobs }: Config,
): Promise<JobSource> {
  const { openWorkerRedis, requireNoPersistence } = await import('../redis.ts');
  const { openQueues } = await import('./redis-queues.ts');
  const { createUploadStore } = await import('./redis-uploads.ts');
  const redis = openWorkerRedis(redisUrl);
  try {
    await requireNoPersistence(redis);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  const queues = openQueues(redis, cipher);
  const close = async () => {
    await queues.close();
    redis.disconnect();
  };
  return { queues, uploadStore: createUploadStore({ redis, cipher, settings: jobs }), close };
}

type JobWorkerOptions = {
  readonly kind: WorkerKind;
  readonly config: Config;
  readonly source: JobSource;
  readonly pool: Pick<Pool, 'submit'>;
  /** Analyses of each queue at a time. */
  readonly concurrency: number;
  readonly database: Database;
  readonly results: StoredResults;
  readonly cipher: Cipher;
  readonly usage: Usage;
  readonly receiptKeys: ReceiptKeys;
  readonly logger: Logger;
};

/** The models of the pool are loaded. */
export function startJobWorker(options: JobWorkerOptions): JobWorker {
  const { config, logger, concurrency, source } = options;
  const stop = new AbortController();
  const context: WorkerContext = {
    config,
    logger,
    cipher: options.cipher,
    store: createJobStore(options.database),
    results: options.results,
    uploadStore: source.uploadStore,
    queues: source.queues,
    pool: options.pool,
    usage: options.usage,
    receiptKeys: options.receiptKeys,
    slowFetches: createFairBudget(maxSlowFetches),
    // A single owner can fetch a recording of the maximum size while others use as much.
    fetchedBytes: createFairBudget((concurrency + 2) * config.jobs.maxBytes),
    stop: stop.signal,
  };
  const workers = openWorkers(context, concurrency);
  const unregister = source.queues.register(options.kind);
  let draining: Promise<void> | null = null;
  async function drain(): Promise<void> {
    const timer = setTimeout(() => stop.abort(), 1000 * config.shutdownSeconds);
    void unregister();
    await Promise.all(workers.map((worker) => worker.close()));
    clearTimeout(timer);
    await source.close();
  }
  const jobWorker: JobWorker = {
    stop: () => (draining ??= drain()),
    abort: () => {
      stop.abort();
      return jobWorker.stop();
    },
  };
  return jobWorker;
}

/** Several connections repeat what fails, several times a second: each reason is logged once in `lifetimeMs`. Some name a job. */
const loggedReasons = { size: 100, lifetimeMs: 600_000 };

function createQueueLog(logger: Pick<Logger, 'warn'>): (error: Error) => void {
  const logged = createCache<true>({ ...loggedReasons, now: () => performance.now() });
  return ({ message }) => {
    if (logged.get(message)) return;
    logged.set(message, true);
    logger.warn({ reason: message }, 'queue in Redis: tried again until it works');
  };
}

/** Long recordings have their own slots: their analyses pause for short ones. */
function openWorkers(context: WorkerContext, concurrency: number): QueueWorker[] {
  const { logger, queues } = context;
  const budget = createFairBudget(maxCallbacks);
  const onError = createQueueLog(logger);
  const onReturned = (id: string) =>
    logger.warn({ job_id: id }, 'job returned to the queue: its worker was lost');
  const onAnalysisFailed: WorkOptions['onFailed'] = (job, error, isOver) => {
    logger.warn({ job_id: job.id, attempt: job.failedAttempts, err: error }, 'job attempt failed');
    if (!isOver) return;
    void markLost(context, job, error).catch((cause: unknown) =>
      logger.error({ job_id: job.id, err: cause }, 'lost job not recorded'),
    );
  };
  const openAnalyses = (kind: JobQueueName) => {
    const slots = createFairSemaphore(concurrency, (released) => worker.resize(concurrency + released));
    const worker: QueueWorker = queues[kind].work({
      concurrency,
      process: (job) => processAnalysis(context, { kind, slots }, job),
      onFailed: onAnalysisFailed,
      onReturned,
      onError,
    });
    return worker;
  };
  const callbacks = queues.callbacks.work({
    concurrency: maxCallbacks,
    process: (job) => processCallback(context, budget, job),
    onFailed: (job, error) =>
      logger.warn(
        { job_id: job.id, attempt: job.failedAttempts, reason: error.message },
        'callback not delivered',
      ),
    onReturned,
    onError,
  });
  return [...queueNames.map(openAnalyses), callbacks];
}
