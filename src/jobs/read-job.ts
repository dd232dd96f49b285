/** Jobs as JSON: rows of the database with the state of those in the queue. */
import {
  type JobSummary,
  lostJobBody,
  type QueueState,
  type StoredJob,
  toJobSummary,
  toStoredJob,
} from './job-json.ts';
import type { JobRow, ListedRow } from './job-store.ts';
import type { JobsContext } from './jobs-context.ts';
import { queueStateOf } from './queue-state.ts';

/** A job is in the database slightly before it is in the queue. */
const reconcileAfterMs = 10_000;

export async function readJob(context: JobsContext, row: JobRow): Promise<StoredJob> {
  return toStoredJob(context.cipher, ...(await withQueueState(context, row)));
}

export async function readSummary(context: JobsContext, row: ListedRow): Promise<JobSummary> {
  return toJobSummary(context.cipher, ...(await withQueueState(context, row)));
}

async function withQueueState<Row extends ListedRow>(
  context: JobsContext,
  row: Row,
): Promise<[Row | JobRow, QueueState | null]> {
  if (row.outcome !== null) return [row, null];
  const state = await context.withRedis(() => queueStateOf(context.queues, row.id));
  if (state !== null) return [row, state];
  return [(await reconcile(context, row)) ?? row, null];
}

/** A job without a queue entry has just ended, was just created, or is lost since Redis restarted: then it is failed. */
async function reconcile({ store, expiresAt }: JobsContext, { id }: ListedRow): Promise<JobRow | null> {
  const row = await store.read(id);
  if (row === null || row.outcome !== null) return row;
  if (Date.now() - Number(row.created_at) < reconcileAfterMs) return row;
  await store.finish(id, 'failed', lostJobBody, expiresAt());
  await store.releaseKey(id);
  return store.read(id);
}
