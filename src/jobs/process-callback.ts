/** Sends one callback of the queue. */
import type { FairBudget } from '../runtime/fair-budget.ts';
import { cancelledJob, encodeEvent, type StoredJob, toStoredJob } from './job-json.ts';
import type { Payload } from './payload.ts';
import { deliver } from './webhook.ts';
import { moveToWait, type QueueJob, shareKeys, startJob, type WorkerContext } from './worker-context.ts';

export async function processCallback(
  context: WorkerContext,
  budget: FairBudget,
  job: QueueJob,
  token: string | undefined,
): Promise<void> {
  const { config, cipher, logger, queues } = context;
  const id = job.id as string;
  const payload = await startJob(context, queues.callbacks, job, token);
  const { callback, owner } = payload;
  if (callback === null) return;
  const reservation = budget.open(shareKeys(owner, callback));
  if (!reservation.add(1)) return queues.callbacks.delay(job, owner, token);
  try {
    const ended = await findEnded(context, job, payload);
    if (ended === null) return;
    const delivered = await deliver({
      id,
      url: callback,
      body: encodeEvent(ended),
      secret: cipher.callbackSecret(owner),
      privateHosts: config.jobs.privateHosts,
      now: Date.now(),
      signal: context.stop,
    });
    logger.info({ job_id: id, delivered }, 'callback sent');
  } catch (error) {
    if (!context.stop.aborted) throw error;
    return moveToWait(job, token);
  } finally {
    reservation.release();
  }
}

/** Null when the job was removed after its end. */
async function findEnded(
  { cipher, store }: WorkerContext,
  job: QueueJob,
  { cancelledAt, metadata }: Payload,
): Promise<StoredJob | null> {
  const id = job.id as string;
  if (cancelledAt !== null) return cancelledJob(id, job.timestamp, cancelledAt, metadata);
  const row = await store.read(id);
  return row === null || row.outcome === null ? null : toStoredJob(cipher, row, null);
}
