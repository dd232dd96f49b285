/** The worker process: analyses jobs, stores results and sends callbacks. */
import { Worker } from 'bullmq';
import type { Logger } from 'pino';
import { createUsageCounts } from '../auth/usage.ts';
import type { Config } from '../config.ts';
import { createWriteFailures, type Database, keepDeletingExpired } from '../database.ts';
import { createFairBudget, createFairSemaphore } from '../fair-share.ts';
import type { ReceiptKeys } from '../receipts.ts';
import { openWorkerRedis, type Redis, requireNoPersistence, withoutCommand } from '../redis.ts';
import { processCallback } from './callback.ts';
import { createJobStore } from './job-store.ts';
import { createJobThreads, type JobThreads, type QueueName, queueNames } from './job-threads.ts';
import { createCipher, type EncryptedPayload } from './payload.ts';
import { markLost, processAnalysis, type WorkerContext } from './process-analysis.ts';
import { connectionOptions, type JobQueue, openQueues, type QueueJob } from './queues.ts';
import { createUploadStore } from './upload-store.ts';

export type JobWorker = {
  /** Drains: running jobs return to the queue after `shutdownSeconds`. */
  stop(): Promise<void>;
  /** Returns running jobs to the queue at once. */
  abort(): Promise<void>;
};

/** The loss of a worker is detected after the lock expires and at most one interval more. */
const lockMs = 15_000;
const stalledIntervalMs = 5000;
/** Workers that may be lost with a job before it fails. */
const maxStalled = 3;
const maxCallbacks = 64;
const maxSlowFetches = 64;

/** @throws PersistenceError */
export async function startJobWorker(options: {
  readonly config: Config;
  readonly redisUrl: string;
  readonly database: Database;
  readonly secret: string;
  readonly receiptKeys: ReceiptKeys;
  readonly logger: Logger;
}): Promise<JobWorker> {
  const { config, logger } = options;
  const redis = openWorkerRedis(options.redisUrl);
  let threads: JobThreads;
  try {
    await requireNoPersistence(redis);
    const limits = { ...config.limits, seconds: config.jobs.maxSeconds, deadlineSeconds: 0 };
    threads = await createJobThreads({
      threads: config.workers,
      settings: { modelsDir: config.modelsDir, limits },
      onLost: (cause) => logger.error({ err: cause }, 'worker lost'),
    });
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  const cipher = createCipher(options.secret);
  const failures = createWriteFailures(logger);
  const stop = new AbortController();
  const context: WorkerContext = {
    config,
    logger,
    cipher,
    store: createJobStore(options.database),
    uploadStore: createUploadStore({ redis, cipher, settings: config.jobs }),
    queues: openQueues(redis, cipher),
    threads,
    usage: createUsageCounts(options.database, Date.now, failures),
    receiptKeys: options.receiptKeys,
    slowFetches: createFairBudget(maxSlowFetches),
    // A single owner can fetch a recording of the maximum size while others use as much.
    fetchedBytes: createFairBudget((config.workers + 2) * config.jobs.maxBytes),
    stop: stop.signal,
  };
  const workers = openWorkers(redis, context);
  const stopDeleting = keepDeletingExpired(options.database, failures);
  let draining: Promise<void> | null = null;
  async function drain(): Promise<void> {
    const timer = setTimeout(() => stop.abort(), 1000 * config.shutdownSeconds);
    await Promise.all(workers.map((worker) => worker.close()));
    clearTimeout(timer);
    await threads.close();
    await context.usage
      .flush()
      .catch((error: unknown) => logger.warn({ err: error }, 'cannot write the counts of tokens'));
    await stopDeleting();
    await context.queues.close();
    redis.disconnect();
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

type Process = (job: QueueJob, token: string | undefined) => Promise<void>;

/** Long recordings have their own slots: their threads run short ones between two chunks. */
function openWorkers(redis: Redis, context: WorkerContext): Worker[] {
  const { config, logger, queues } = context;
  const budget = createFairBudget(maxCallbacks);
  const locks = { lockDuration: lockMs, stalledInterval: stalledIntervalMs, maxStalledCount: maxStalled };
  const open = ({ name }: JobQueue, concurrency: number, process: Process) => {
    const worker = new Worker<EncryptedPayload>(name, process, {
      ...connectionOptions(redis),
      ...locks,
      concurrency,
    });
    worker.on('error', (error) => logger.warn({ reason: error.message }, 'queue'));
    return worker;
  };
  const openAnalyses = (kind: QueueName) => {
    const slots = createFairSemaphore(config.workers, (released) =>
      resize(worker, config.workers + released),
    );
    const queue = { ...queues[kind], kind, slots };
    const worker = open(queue, config.workers, (job, token) => processAnalysis(context, queue, job, token));
    worker.on('failed', (job, error) => {
      const err = withoutCommand(error);
      logger.warn({ job_id: job?.id, attempt: job?.attemptsMade, err }, 'job attempt failed');
      if (job?.finishedOn === undefined) return;
      void markLost(context, job, error).catch((cause: unknown) =>
        logger.error({ job_id: job.id, err: withoutCommand(cause as Error) }, 'lost job not recorded'),
      );
    });
    return worker;
  };
  const callbacks = open(queues.callbacks, maxCallbacks, (job, token) =>
    processCallback(context, budget, job, token),
  );
  callbacks.on('failed', (job, error) => {
    logger.warn(
      { job_id: job?.id, attempt: job?.attemptsMade, reason: error.message },
      'callback not delivered',
    );
  });
  return [...queueNames.map(openAnalyses), callbacks];
}

/** Sets the concurrency. `resume` makes a fully occupied worker fetch further jobs. */
function resize(worker: Worker, concurrency: number): void {
  const more = concurrency > worker.concurrency;
  worker.concurrency = concurrency;
  if (more && worker.closing === undefined) void worker.pause(true).then(() => worker.resume());
}
