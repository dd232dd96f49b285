/** Makes one callback that a worker has taken from the queue. */
import { DelayedError, WaitingError } from 'bullmq';
import type { FairBudget } from './fair-budget.ts';
import { cancelledJobJson, type JobJson, toJobJson } from './job-json.ts';
import type { Payload } from './payload.ts';
import { deliver } from './webhook.ts';
import { type QueueJob, shareKeys, startJob, type WorkerContext } from './worker-context.ts';

export async function processCallback(
  context: WorkerContext,
  shares: FairBudget,
  job: QueueJob,
  token: string | undefined,
): Promise<void> {
  const { config, cipher, logger, queues } = context;
  const id = job.id as string;
  const payload = await startJob(context, queues.callbacks, job, token);
  const { callback, holder } = payload;
  if (callback === null) return;
  const share = shares.open(shareKeys(holder, callback));
  if (!share.add(1)) {
    await queues.callbacks.delay(job, holder, token);
    throw new DelayedError();
  }
  try {
    const view = await viewFor(context, job, payload);
    if (view === null) return;
    const delivered = await deliver({
      id,
      url: callback,
      body: JSON.stringify(view),
      secret: cipher.callbackSecret(holder),
      privateHosts: config.jobs.privateHosts,
      now: Date.now(),
      stop: context.stop,
    });
    logger.info({ job_id: id, delivered }, 'called back');
  } catch (error) {
    if (!context.stop.aborted) throw error;
    await job.moveToWait(token);
    throw new WaitingError();
  } finally {
    share.release();
  }
}

/** Null when the job was removed after its end: nobody waits for it. */
async function viewFor(
  { store }: WorkerContext,
  job: QueueJob,
  { cancelledAt }: Payload,
): Promise<JobJson | null> {
  const id = job.id as string;
  if (cancelledAt !== null) return cancelledJobJson(id, job.timestamp, cancelledAt);
  const row = await store.read(id);
  return row === null || row.outcome === null ? null : toJobJson(row, null);
}
