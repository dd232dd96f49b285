/** Creates a job in the database and in the queue. */
import type { AnalyzeOptions } from '../../engine/index.ts';
import type { UsageKey } from '../auth/usage.ts';
import { ServiceError } from '../errors.ts';
import type { Metadata } from '../form.ts';
import {
  type JobOwner,
  type JobRow,
  type JobStore,
  type JobSummary,
  type ListedRow,
  lostJobBody,
  type QueueState,
  type StoredJob,
  toJobSummary,
  toStoredJob,
} from './job-store.ts';
import { type Cipher, encryptMetadata, encryptPayload, type Payload } from './payload.ts';
import { type Queues, queueStateOf, readWaitReason } from './queues.ts';
import type { RedisAccess } from './redis-uploads.ts';
import type { UploadStore } from './upload-store.ts';

export type JobRequest = AnalyzeOptions & {
  readonly owner: JobOwner;
  readonly idempotencyKey: string | null;
  /** From `digestRequest`. */
  readonly digest: string;
  readonly source: Payload['source'];
  readonly callback: string | null;
  readonly metadata?: Metadata;
  /** Null: no receipt. */
  readonly receipt?: Payload['receipt'];
  readonly ignored?: Payload['ignored'];
  /** Null counts the audio for no token. */
  readonly usage?: UsageKey | null;
};

/**
 * Returns the existing job for a reused idempotency key. Deletes the upload of an `id` that does not become a job.
 * @throws ServiceError `invalid` when the key was used for a different request
 */
export async function createJob(context: JobsContext, id: string, request: JobRequest): Promise<StoredJob> {
  try {
    const inserted = await insert(context, id, request);
    if (inserted.existing) {
      await context.uploadStore.delete(id);
      return await readJob(context, inserted.row);
    }
    await enqueue(context, inserted.row, request);
    // It is queued: what follows must not fail.
    const reason = await context.withRedis(() => readWaitReason(context.queues)).catch(() => null);
    const state = { status: 'waiting', progress: null, reason } as const;
    return toStoredJob(context.cipher, inserted.row, state);
  } catch (error) {
    await context.uploadStore.delete(id).catch(() => {});
    throw error;
  }
}

async function insert(
  { store, cipher, expiresAt }: JobsContext,
  id: string,
  { owner, idempotencyKey, digest, metadata = {} }: JobRequest,
): Promise<{ readonly row: JobRow; readonly existing: boolean }> {
  const encrypted = encryptMetadata(metadata, id, cipher);
  const job = { id, owner, idempotencyKey, digest, metadata: encrypted, expiresAt: expiresAt() };
  const outcome = await store.insert(job);
  if (outcome === 'owner_missing') {
    throw new ServiceError('unauthenticated', 'The account of this token is gone');
  }
  const existing = outcome === 'duplicate_key';
  const row = existing ? await store.findByKey(owner, idempotencyKey ?? '') : await store.read(id);
  if (row === null) throw jobRemoved();
  if (existing) requireSameRequest(row, digest);
  return { row, existing };
}

async function enqueue(
  { store, queues, cipher, uploadStore, withRedis }: JobsContext,
  { id, created_at }: JobRow,
  {
    owner,
    source,
    channel,
    track,
    channels,
    segments,
    speakers,
    declared,
    callback,
    metadata = {},
    receipt = null,
    ignored,
    usage = null,
  }: JobRequest,
): Promise<void> {
  try {
    const installation = await store.installationId();
    const fields = {
      source,
      channel,
      track,
      channels,
      segments,
      speakers,
      declared,
      callback,
      metadata,
      receipt,
      ignored,
      usage,
      owner: owner.key,
      installation,
      cancelledAt: null,
    };
    const payload = encryptPayload(fields, id, cipher);
    await withRedis(async () => {
      await uploadStore.reserve(id, owner.key, payload.sealed.length);
      if (source.kind === 'upload' && !(await uploadStore.keep(id))) throw jobRemoved();
      await queues.analyses.add({ id, owner: owner.key, payload, createdAt: Number(created_at) });
    });
  } catch (error) {
    await store.delete(id);
    throw error;
  }
}

/** The job of the idempotency key was removed during the request, or the upload has expired. */
function jobRemoved(): ServiceError {
  return new ServiceError('overloaded', 'The job has just been removed; send it again');
}

export function requireSameRequest(row: JobRow, digest: string): void {
  if (row.digest === digest) return;
  const message = 'Expected the request that this `Idempotency-Key` was first used for, got a different one';
  const problem = { where: 'header', field: 'Idempotency-Key', reason: 'idempotency_key', message } as const;
  throw new ServiceError('invalid', message, { problems: [problem] });
}

// Jobs as JSON: rows of the database with the state of those in the queue.

/** A job is in the database slightly before it is in the queue. One that is later than the clock is not new. */
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

/** Shared by the operations on jobs in the service. */
export type JobsContext = {
  readonly store: JobStore;
  readonly queues: Queues;
  readonly cipher: Cipher;
  readonly withRedis: RedisAccess;
  /** Uses `withRedis`. */
  readonly uploadStore: UploadStore;
  /** Expiry of a job that is created or lost now, ms since 1970. */
  expiresAt(): number;
};
