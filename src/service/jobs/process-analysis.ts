/** One job of an analysis queue, and what callbacks share with it. */
import { setInterval, setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { round } from '../../engine/schema.ts';
import type { Usage } from '../auth/usage.ts';
import type { Config } from '../config.ts';
import { explainLimit, ServiceError } from '../errors.ts';
import type { FairBudget, FairSemaphore, Permit } from '../fair-share.ts';
import { baselineNames, type RecordingName } from '../form.ts';
import type { ReceiptKeys, SigningKey } from '../receipt-keys.ts';
import { signReceipt } from '../receipts.ts';
import type { AnalysisResult, Pool } from '../workers/pool.ts';
import type { JobQueueName } from '../workers/protocol.ts';
import { type JobStore, storedError } from './job-store.ts';
import { ReservationError } from './outgoing-request.ts';
import { type Cipher, decryptPayload, encryptCallback, NewerPayloadError, type Payload } from './payload.ts';
import { PutBack, type QueueJob, type Queues, UnprocessableError } from './queues.ts';
import { type FetchedAudio, fetchAudio, fetchFailed, RetryableFetchError } from './remote-audio.ts';
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

/** Budget keys of requests to other servers. */
export const shareKeys = (owner: string, url: string) => [`owner ${owner}`, `host ${new URL(url).host}`];

/** Delay of a job that this worker cannot process now. */
const laterMs = 5000;
const databasePauseMs = 1000;

/** Puts the job back after a pause, which keeps a worker without its database from cycling through the queue. */
async function putBackWithoutDatabase({ stop }: WorkerContext): Promise<never> {
  await sleep(databasePauseMs, null, { signal: stop }).catch(() => {});
  throw new PutBack({ delayMs: laterMs });
}

const hasCode = (error: unknown, code: ServiceError['code']): boolean =>
  error instanceof ServiceError && error.code === code;

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

/**
 * Stores the outcome and counts its usage, deletes the upload and queues the callback. Idempotent.
 * @param outcome an error as JSON, or the report
 * @returns whether this call stored it
 */
async function finishJob(
  context: WorkerContext,
  job: QueueJob,
  payload: Payload,
  outcome: string | Report,
): Promise<boolean> {
  const { config, store, results, usage } = context;
  const { id } = job;
  const now = Date.now();
  const expiresAt = now + 1000 * config.jobs.resultSeconds;
  const isError = typeof outcome === 'string';
  const stored = isError
    ? await store.fail(id, outcome, expiresAt)
    : await results.store(id, outcome.json, now, expiresAt);
  if (!stored && (await store.read(id)) === null) {
    await finishCancelledJob(context, job, payload);
    return false;
  }
  if (stored && !isError && payload.usage !== null)
    usage.add(payload.usage, { audioSeconds: outcome.audioSeconds });
  await announceEnd(context, job, payload);
  return stored;
}

async function announceEnd(context: WorkerContext, job: QueueJob, payload: Payload): Promise<void> {
  await context.uploadStore.delete(job.id);
  await enqueueCallback(context, job, payload);
}

/** Ends a job that was removed while it waited or ran. */
async function finishCancelledJob(context: WorkerContext, job: QueueJob, payload: Payload): Promise<void> {
  context.logger.info({ job_id: job.id }, 'job cancelled');
  await announceEnd(context, job, { ...payload, cancelledAt: Date.now() });
}

async function enqueueCallback(
  { queues, cipher }: WorkerContext,
  job: QueueJob,
  payload: Payload,
): Promise<void> {
  if (payload.callback === null) return;
  const { id, createdAt } = job;
  const encrypted = encryptCallback(payload, id, cipher);
  await queues.callbacks.add({ id, owner: payload.owner, payload: encrypted, createdAt });
}

// The analysis of a job.

const removalCheckMs = 1000;
const advice = { 'audio.too_long': 'UNDERTONE_JOB_MAX_SECONDS sets the limit' };

type AnalysisQueue = { readonly kind: JobQueueName; readonly slots: FairSemaphore };

/** Jobs of `analyses` with long recordings move to `long`. */
export async function processAnalysis(
  context: WorkerContext,
  queue: AnalysisQueue,
  job: QueueJob,
): Promise<void> {
  await requireDatabase(context, job, () => attempt(context, queue, job));
}

async function attempt(context: WorkerContext, queue: AnalysisQueue, job: QueueJob): Promise<void> {
  const { logger, queues, store } = context;
  const { id } = job;
  const payload = await startJob(context, job);
  const row = await store.read(id);
  if (row === null) return finishCancelledJob(context, job, payload);
  if (row.outcome !== null) return announceEnd(context, job, payload);
  const acquired = queue.slots.acquire(payload.owner);
  if (acquired === null) throw new PutBack('first');
  const permit = await acquired;
  const started = performance.now();
  const finished = new AbortController();
  const removed = watchRemoval(context, id, finished.signal);
  try {
    const report = await analyze(context, { queue: queue.kind, permit, job, payload, removed });
    if (report === null) {
      const { payload: encrypted, createdAt } = job;
      return await queues.long.add({ id, owner: payload.owner, payload: encrypted, createdAt });
    }
    const stored = await finishJob(context, job, payload, report);
    if (stored) logger.info({ job_id: id, ms: Math.round(performance.now() - started) }, 'job done');
  } catch (error) {
    // The service stops all tasks of its threads.
    if (context.stop.aborted || hasCode(error, 'shutting_down')) throw new PutBack('first');
    if (removed.aborted) return finishCancelledJob(context, job, payload);
    if (error instanceof ReservationError) throw new PutBack({ turnOf: payload.owner });
    if (!(error instanceof ServiceError) || retried.has(error.code)) throw error;
    const stored = await finishJob(context, job, payload, storedError(explainLimit(error, advice)));
    if (stored) logger.info({ job_id: id, code: error.code }, 'job failed');
  } finally {
    permit.release();
    finished.abort();
  }
}

/** The next attempt may succeed. */
const retried: ReadonlySet<string> = new Set(['storage_unavailable', 'worker_lost']);
/** Of BullMQ, for a job whose workers were lost. */
const stalled = /^job stalled/;

/** Fails a job whose workers were lost, or whose attempts failed, too often. @param cause of the last attempt */
export async function markLost(context: WorkerContext, job: QueueJob, cause: Error): Promise<void> {
  const payload = decryptPayload(job.payload, job.id, context.cipher);
  if (payload.installation !== (await context.store.installationId())) {
    throw new Error('Expected the database of the service for `UNDERTONE_DATABASE_URL`, got another');
  }
  const isLost = hasCode(cause, 'worker_lost') || stalled.test(cause.message);
  const error = isLost
    ? new ServiceError('worker_lost', 'The workers of this job ended unexpectedly')
    : new ServiceError('internal', 'Internal error');
  await finishJob(context, job, payload, storedError(error));
}

/** Aborts once the job is deleted from the database. */
function watchRemoval({ store }: WorkerContext, id: string, ended: AbortSignal): AbortSignal {
  const removed = new AbortController();
  const watch = async () => {
    for await (const _ of setInterval(removalCheckMs, null, { signal: ended })) {
      const row = await store.read(id).catch(() => undefined);
      if (row === null) removed.abort();
    }
  };
  watch().catch(() => {});
  return removed.signal;
}

type Analysis = {
  readonly queue: JobQueueName;
  readonly permit: Permit;
  readonly job: QueueJob;
  readonly payload: Payload;
  readonly removed: AbortSignal;
};

/**
 * Returns null for a recording of the queue `long`.
 * @throws ServiceError when a retry is useless
 */
async function analyze(context: WorkerContext, analysis: Analysis): Promise<Report | null> {
  const { queue, job, payload, removed } = analysis;
  const { config, pool, receiptKeys } = context;
  const signal = AbortSignal.any([context.stop, removed]);
  const { declared, ...recording } = await load(context, analysis, signal);
  const { channel, track, channels, segments, speakers, ignored, owner } = payload;
  const key = receiptKeys.current();
  const signing = payload.receipt && { ...payload.receipt, keyId: key.id };
  const { maxSeconds } = config.jobs;
  const parts = { channel, track, channels, segments, speakers, declared };
  const options = { ...parts, ignored, signing, maxSeconds, requestId: job.id };
  const { result, cancel } = pool.submit(
    { job: queue, ...recording, ...options },
    {
      kind: 'job',
      // Short recordings of an owner run between the chunks of a long one.
      account: `${queue} ${owner}`,
      release: () => {},
      onProgress: (analysed, declared) =>
        job.reportProgress({ analysed_s: round(analysed), duration_s: declared && round(declared) }),
    },
  );
  signal.addEventListener('abort', cancel);
  try {
    if (signal.aborted) cancel();
    const report = await result;
    signal.throwIfAborted();
    return report && sign(report, key);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

type Report = Pick<AnalysisResult, 'json' | 'audioSeconds'>;

function sign({ json, signed, audioSeconds }: AnalysisResult, { key }: SigningKey): Report {
  if (signed !== undefined) signReceipt({ json, signed }, key);
  return { json, audioSeconds };
}

type Recording = FetchedAudio & { readonly baselines: readonly Uint8Array[] };

async function load(
  context: WorkerContext,
  { job, payload, permit }: Analysis,
  signal: AbortSignal,
): Promise<Recording> {
  const { uploadStore } = context;
  const { owner, source, declared } = payload;
  if (source.kind === 'object') {
    const fetched = await fetchRecording(context, { job, owner, url: source.url, permit, signal });
    return { ...fetched, baselines: [] };
  }
  const { sizes } = source;
  const { id } = job;
  const audio = await uploadStore.read(id, 'audio', sizes.audio);
  const baselines: Uint8Array[] = [];
  for (const [index, size] of sizes.baselines.entries()) {
    const baseline = await uploadStore.read(id, baselineNames[index] as RecordingName, size);
    if (baseline !== null) baselines.push(baseline);
  }
  if (audio !== null && baselines.length === sizes.baselines.length) return { audio, declared, baselines };
  throw new ServiceError('deadline', 'The recording expired before a worker was free');
}

// Fetches the recording of a job. A slow download releases the analysis slot.

/** Downloads up to this long keep their slot and need no reservation. */
const slowAfterMs = 250;

type RemoteRecording = {
  readonly job: QueueJob;
  readonly owner: string;
  readonly url: string;
  readonly permit: Permit;
  readonly signal: AbortSignal;
};

/** @throws ReservationError at the share of the owner or the host, ServiceError when a retry is useless */
async function fetchRecording(
  { config, fetchedBytes, slowFetches }: WorkerContext,
  { job, owner, url, permit, signal }: RemoteRecording,
): Promise<FetchedAudio> {
  const keys = shareKeys(owner, url);
  const [bytes, download] = [fetchedBytes.open(keys), slowFetches.open(keys)];
  const done = new AbortController();
  try {
    const fetching = fetchAudio(url, config.jobs, AbortSignal.any([signal, done.signal]), bytes.add);
    const fetched = await Promise.race([fetching, sleep(slowAfterMs, null)]);
    if (fetched !== null) return fetched;
    if (!download.add(1)) throw new ReservationError('Expected a free slow download, got none');
    return await permit.releaseDuring(fetching);
  } catch (error) {
    throw job.isLastAttempt && error instanceof RetryableFetchError ? fetchFailed(error.message) : error;
  } finally {
    done.abort();
    bytes.release();
    download.release();
  }
}
