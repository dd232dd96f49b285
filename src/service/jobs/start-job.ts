/** What a worker does before an analysis or a callback: it opens the payload of a job. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Usage } from '../auth/usage.ts';
import type { Config } from '../config.ts';
import { hasCode } from '../errors.ts';
import type { FairBudget } from '../fair-share.ts';
import type { ReceiptKeys } from '../receipt-keys.ts';
import type { Pool } from '../workers/pool.ts';
import type { Cipher } from './cipher.ts';
import type { JobStore } from './job-store.ts';
import { decryptPayload, NewerPayloadError, type Payload } from './payload.ts';
import { PutBack, type QueueJob, type Queues, UnprocessableError } from './queues.ts';
import type { StoredResults } from './stored-results.ts';
import type { UploadStore } from './upload-store.ts';

export type WorkerContext = {
  readonly config: Config;
  readonly logger: Logger;
  readonly cipher: Cipher;
  readonly store: JobStore;
  readonly results: StoredResults;
  readonly uploadStore: UploadStore;
  readonly queues: Queues;
  readonly pool: Pick<Pool, 'submit'>;
  readonly usage: Usage;
  readonly receiptKeys: ReceiptKeys;
  /** Downloads that have released their analysis slots. */
  readonly slowFetches: FairBudget;
  /** Bytes of recordings that are fetched, or wait for a slot. */
  readonly fetchedBytes: FairBudget;
  /** Aborted at shutdown: jobs return to the queue. */
  readonly stop: AbortSignal;
};

/** Delay of a job that this worker cannot process now. */
const laterMs = 5000;
const databasePauseMs = 1000;

/** Puts the job back after a pause, which keeps a worker without its database from cycling through the queue. */
async function putBackWithoutDatabase({ stop }: WorkerContext): Promise<never> {
  await sleep(databasePauseMs, null, { signal: stop }).catch(() => {});
  throw new PutBack({ delayMs: laterMs });
}

/** An outage of the database is no failed attempt. @throws PutBack */
export async function requireDatabase<T>(
  context: WorkerContext,
  job: QueueJob,
  attempt: () => Promise<T>,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!hasCode(error, 'storage_unavailable')) throw error;
    context.logger.warn({ job_id: job.id }, 'job left in the queue: the database is unavailable');
    return putBackWithoutDatabase(context);
  }
}

/** Returns the payload of a job. @throws PutBack for jobs of a later release or of another database */
export async function startJob(context: WorkerContext, job: QueueJob): Promise<Payload> {
  const { logger, store, cipher } = context;
  let payload: Payload;
  try {
    payload = decryptPayload(job.payload, job.id, cipher);
  } catch (error) {
    if (!(error instanceof NewerPayloadError)) throw new UnprocessableError((error as Error).message);
    logger.warn({ job_id: job.id, reason: error.message }, 'job of a later release left in the queue');
    throw new PutBack({ delayMs: laterMs });
  }
  // With a different database the job would seem removed.
  if (payload.installation === (await store.installationId())) return payload;
  const message =
    'Expected the database of the service for `UNDERTONE_DATABASE_URL`, got another: job left in the queue';
  logger.error({ job_id: job.id }, message);
  return putBackWithoutDatabase(context);
}
