/** One job of an analysis queue. */
import { setInterval } from 'node:timers/promises';
import { round } from '../../engine/schema.ts';
import { explainLimit, hasCode, ServiceError } from '../errors.ts';
import type { FairSemaphore, Permit } from '../fair-share.ts';
import { baselineNames, type RecordingName } from '../form.ts';
import type { SigningKey } from '../receipt-keys.ts';
import { signReceipt } from '../receipts.ts';
import type { AnalysisResult } from '../workers/pool.ts';
import type { JobQueueName } from '../workers/protocol.ts';
import { announceEnd, finishCancelledJob, finishJob, type Report } from './finish-job.ts';
import { storedError } from './job-json.ts';
import { ReservationError } from './outgoing-request.ts';
import { decryptPayload, type Payload } from './payload.ts';
import { PutBack, type QueueJob } from './queues.ts';
import { type FetchedAudio, fetchRecording } from './remote-audio.ts';
import { requireDatabase, startJob, type WorkerContext } from './start-job.ts';

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
