/** Shared state of a worker, and the start and end of every job. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, UnrecoverableError, WaitingError } from 'bullmq';
import type { Logger } from 'pino';
import type { Usage } from '../auth/usage.ts';
import type { Config } from '../config.ts';
import type { FairBudget } from '../fair-share.ts';
import type { ReceiptKeys } from '../receipts.ts';
import type { JobStore, Outcome } from './job-store.ts';
import type { JobThreads } from './job-threads.ts';
import {
  type Cipher,
  decryptPayload,
  type EncryptedPayload,
  encryptPayload,
  NewerPayloadError,
  type Payload,
} from './payload.ts';
import { type JobQueue, moveToDelayed, type Queues } from './queues.ts';
import type { UploadStore } from './upload-store.ts';

export type WorkerContext = {
  readonly config: Config;
  readonly logger: Logger;
  readonly cipher: Cipher;
  readonly store: JobStore;
  readonly uploadStore: UploadStore;
  readonly queues: Queues;
  readonly threads: JobThreads;
  readonly usage: Usage;
  readonly receiptKeys: ReceiptKeys;
  /** Downloads that have released their analysis slots. */
  readonly slowFetches: FairBudget;
  /** Bytes of recordings that are fetched, or wait for a slot. */
  readonly fetchedBytes: FairBudget;
  /** Aborted at shutdown: jobs return to the queue. */
  readonly stop: AbortSignal;
};

export type QueueJob = Job<EncryptedPayload>;

/** Returns a job to the queue, without counting the attempt. @throws WaitingError, as BullMQ requires */
export async function moveToWait(job: QueueJob, token: string | undefined): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

/** Budget keys of requests to other servers. */
export const shareKeys = (owner: string, url: string) => [`owner ${owner}`, `host ${new URL(url).host}`];

/** Delay of a job that only another worker can process. */
const foreignJobDelayMs = 5000;
/** Keeps a worker with the wrong database from cycling through the queue. */
const wrongDatabasePauseMs = 1000;

/**
 * Returns the payload of a job. Jobs of a later release or of another database are delayed for other workers.
 * @throws DelayedError after putting the job back
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
    return moveToDelayed(job, foreignJobDelayMs, token);
  }
  // With a different database the job would seem removed.
  if (payload.installation === (await store.installationId())) return payload;
  const message =
    'Expected the database of the service for `UNDERTONE_DATABASE_URL`, got another: job left in the queue';
  logger.error({ job_id: job.id }, message);
  await sleep(wrongDatabasePauseMs, null, { signal: stop }).catch(() => {});
  return moveToDelayed(job, foreignJobDelayMs, token);
}

/** Stores the outcome, deletes the upload and queues the callback. Idempotent. */
export async function finishJob(
  context: WorkerContext,
  job: QueueJob,
  payload: Payload,
  outcome: Outcome,
  body: string,
): Promise<Outcome | 'cancelled'> {
  const { config, store, uploadStore } = context;
  const id = job.id as string;
  const finished = await store.finish(id, outcome, body, Date.now() + 1000 * config.jobs.resultSeconds);
  if (!finished && (await store.read(id)) === null) {
    await finishCancelledJob(context, job, payload);
    return 'cancelled';
  }
  await uploadStore.delete(id);
  await enqueueCallback(context, job, payload);
  return outcome;
}

/** Ends a job that was removed while it waited or ran. */
export async function finishCancelledJob(
  context: WorkerContext,
  job: QueueJob,
  payload: Payload,
): Promise<void> {
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
  const encrypted = encryptPayload(payload, id, cipher);
  await queues.callbacks.add({ id, owner: payload.owner, payload: encrypted, createdAt: job.timestamp });
}
