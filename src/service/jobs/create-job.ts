/** Creates a job in the database and in the queue. */
import type { AnalyzeOptions } from '../../engine/index.ts';
import type { UsageKey } from '../auth/usage.ts';
import { ServiceError } from '../errors.ts';
import type { Metadata } from '../metadata.ts';
import type { JobsContext } from './context.ts';
import { type StoredJob, toStoredJob } from './job-json.ts';
import type { JobOwner, JobRow } from './job-store.ts';
import { encryptMetadata, encryptPayload, type Payload } from './payload.ts';
import { readWaitReason } from './queue-state.ts';
import { readJob } from './read-job.ts';

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

/** draft-ietf-httpapi-idempotency-key-header: 422 for a key that is used again with another payload. */
export function requireSameRequest(row: JobRow, digest: string): void {
  if (row.digest === digest) return;
  const message = 'Expected the request that this `Idempotency-Key` was first used for, got a different one';
  const problem = { where: 'header', field: 'Idempotency-Key', reason: 'idempotency_key', message } as const;
  throw new ServiceError('invalid', message, { problems: [problem] });
}
