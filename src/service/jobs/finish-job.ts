/** The end of a job that was analysed or cancelled: its outcome, its usage and its callback. */
import type { AnalysisResult } from '../workers/pool.ts';
import { encryptCallback, type Payload } from './payload.ts';
import type { QueueJob } from './queues.ts';
import type { WorkerContext } from './start-job.ts';

export type Report = Pick<AnalysisResult, 'json' | 'audioSeconds'>;

/**
 * Stores the outcome and counts its usage, deletes the upload and queues the callback. Idempotent.
 * @param outcome an error as JSON, or the report
 * @returns whether this call stored it
 */
export async function finishJob(
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

export async function announceEnd(context: WorkerContext, job: QueueJob, payload: Payload): Promise<void> {
  await context.uploadStore.delete(job.id);
  await enqueueCallback(context, job, payload);
}

/** Ends a job that was removed while it waited or ran. */
export async function finishCancelledJob(
  context: WorkerContext,
  job: QueueJob,
  payload: Payload,
): Promise<void> {
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
