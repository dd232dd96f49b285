/** What the jobs of a worker share, and what is done with every job before it is processed and after it has ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import type { Logger } from 'pino';
import type { Config } from '../runtime/config.ts';
import type { Cipher } from './encryption.ts';
import type { FairBudget } from './fair-budget.ts';
import type { JobStore, Outcome } from './job-store.ts';
import type { JobThreads } from './job-threads.ts';
import {
  decryptPayload,
  type EncryptedPayload,
  encryptPayload,
  NewerPayloadError,
  type Payload,
} from './payload.ts';
import type { JobQueue, Queues } from './queues.ts';
import type { UploadStore } from './upload-store.ts';

export type WorkerContext = {
  readonly config: Config;
  readonly logger: Logger;
  readonly cipher: Cipher;
  readonly store: JobStore;
  readonly uploadStore: UploadStore;
  readonly queues: Queues;
  readonly threads: JobThreads;
  /** Jobs that have left their slots while their recordings are fetched. */
  readonly slowFetches: FairBudget;
  /** Bytes of recordings that were fetched and are not analysed yet. */
  readonly fetchedBytes: FairBudget;
  /** Jobs go back into the queue. */
  readonly stop: AbortSignal;
};

export type QueueJob = Job<EncryptedPayload>;

/** Requests to other servers are shared among owners and hosts. */
export const shareKeys = (owner: string, url: string) => [`owner ${owner}`, `host ${new URL(url).host}`];

/** How long a job is left to other workers, and its place here stays empty where this worker can take none of them. */
const foreignJobDelayMs = 5000;
const emptyMs = 1000;

/**
 * The payload of a job that a worker begins. One of a later release, or of another database, is left to other workers.
 * @throws DelayedError once it is back in the queue
 */
export async function startJob(
  context: WorkerContext,
  queue: JobQueue,
  job: QueueJob,
  token: string | undefined,
): Promise<Payload> {
  const { logger, stop, store, cipher } = context;
  await queue.markStarted(job);
  let payload: Payload;
  try {
    payload = decryptPayload(job.data, job.id as string, cipher);
  } catch (error) {
    if (!(error instanceof NewerPayloadError)) throw new UnrecoverableError((error as Error).message);
    logger.warn({ job_id: job.id, reason: error.message }, 'job of a later release left in the queue');
    await job.moveToDelayed(Date.now() + foreignJobDelayMs, token);
    throw new DelayedError();
  }
  // A job of another database would seem to have been removed.
  if (payload.installation === (await store.instanceId())) return payload;
  const msg =
    'Expected the database of the service for `UNDERTONE_DATABASE_URL`, got another: job left in the queue';
  logger.error({ job_id: job.id }, msg);
  await sleep(emptyMs, null, { signal: stop }).catch(() => {});
  await job.moveToDelayed(Date.now() + foreignJobDelayMs, token);
  throw new DelayedError();
}

/** Whoever ends a job drops what waited for it and calls back: once, however often this is done. */
export async function finishJob(
  context: WorkerContext,
  job: QueueJob,
  payload: Payload,
  outcome: Outcome,
  body: string,
): Promise<Outcome | 'cancelled'> {
  const { config, store, uploadStore } = context;
  const id = job.id as string;
  const ended = await store.finish(id, outcome, body, Date.now() + 1000 * config.jobs.resultSeconds);
  if (!ended && (await store.read(id)) === null) {
    await cancelJob(context, job, payload);
    return 'cancelled';
  }
  await uploadStore.delete(id);
  await enqueueCallback(context, job, payload);
  return outcome;
}

/** Ends a job that was removed while it waited or while a worker had it. */
export async function cancelJob(context: WorkerContext, job: QueueJob, payload: Payload): Promise<void> {
  context.logger.info({ job_id: job.id }, 'job cancelled');
  await context.uploadStore.delete(job.id as string);
  await enqueueCallback(context, job, { ...payload, cancelledAt: Date.now() });
}

async function enqueueCallback(
  { queues, cipher }: WorkerContext,
  job: QueueJob,
  payload: Payload,
): Promise<void> {
  if (payload.callback === null) return;
  const id = job.id as string;
  const sealed = encryptPayload(payload, id, cipher);
  await queues.callbacks.add({ id, owner: payload.holder, payload: sealed, createdAt: job.timestamp });
}
