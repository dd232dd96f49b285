/** Jobs as JSON: rows of the database with the state of those in the queue. */

import { ServiceError } from '../errors.ts';
import type { JobsContext } from './context.ts';
import {
  type JobSummary,
  lostJobBody,
  type QueueState,
  type StoredJob,
  toJobSummary,
  toStoredJob,
} from './job-json.ts';
import type { JobOwner, JobRow, ListedRow } from './job-store.ts';
import { queueStateOf } from './queue-state.ts';

/** A job is in the database slightly before it is in the queue. A job dated after the clock does not count as new. */
const reconcileAfterMs = 10_000;

/** @throws ServiceError `not_found` for a job that a restart of the service has lost */
export async function readJob(context: JobsContext, row: JobRow): Promise<StoredJob> {
  const [found, state] = (await withQueueState(context, row)) ?? [null, null];
  if (found === null) {
    const message = 'The service restarted before this job ended, and its recording is gone; send it again';
    throw new ServiceError('not_found', message);
  }
  return toStoredJob(context.cipher, found, state);
}

/** Returns null for a job that a restart of the service has lost. */
export async function readSummary(context: JobsContext, row: ListedRow): Promise<JobSummary | null> {
  const found = await withQueueState(context, row);
  return found && toJobSummary(context.cipher, ...found);
}

/** The job of the key. The key of a job that a restart has lost is free. */
export async function readByKey(context: JobsContext, owner: JobOwner, key: string): Promise<JobRow | null> {
  const row = await context.store.findByKey(owner, key);
  if (row === null || (await withQueueState(context, row)) !== null) return row;
  await context.store.releaseKey(row.id);
  return null;
}

/** Returns null for a job that a restart of the service has lost. */
async function withQueueState<Row extends ListedRow>(
  context: JobsContext,
  row: Row,
): Promise<[Row | JobRow, QueueState | null] | null> {
  if (row.outcome !== null) return [row, null];
  const state = await context.withRedis(() => queueStateOf(context.queues, row.id));
  if (state !== null) return [row, state];
  return reconcile(context, row);
}

/** A job without a queue entry has just ended, was just created, or is lost: then Redis restarted, or the service did. */
async function reconcile<Row extends ListedRow>(
  { store, queues, expiresAt }: JobsContext,
  row: Row,
): Promise<[Row | JobRow, null] | null> {
  const current = await store.read(row.id);
  if (current === null || current.outcome !== null) return [current ?? row, null];
  const createdAt = Number(current.created_at);
  const openedAt = queues.openedAt();
  if (openedAt !== null && createdAt < openedAt) return null;
  if (Math.abs(Date.now() - createdAt) < reconcileAfterMs) return [current, null];
  await store.fail(row.id, lostJobBody, expiresAt());
  await store.releaseKey(row.id);
  return [(await store.read(row.id)) ?? current, null];
}
