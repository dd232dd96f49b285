/** Jobs as the HTTP routes see them: created, found, listed and removed. */

import { randomBase62 } from '../auth/token-format.ts';
import type { Database } from '../db/database.ts';
import type { JobSettings } from '../runtime/config.ts';
import { ServiceError } from '../runtime/errors.ts';
import { openRedis, requireNoPersistence, waitForRedis } from '../runtime/redis.ts';
import { type DigestInput, digestRequest } from './digest.ts';
import { type Cipher, createCipher } from './encryption.ts';
import { type JobJson, type JobSummary, lostBody, toJobJson, toJobSummary } from './job-json.ts';
import { createJobStore, type JobOwner, type JobRow, type JobStore, type ListedRow } from './job-store.ts';
import { decryptPayload, type EncryptedPayload, encryptPayload, type Payload } from './payload.ts';
import { createQueueSlots } from './queue-slots.ts';
import {
  countWaiting,
  countWaitingOf,
  findQueued,
  type JobStats,
  queueStateOf,
  readStats,
} from './queue-state.ts';
import { openQueues } from './queues.ts';
import { createRedisAccess, type RedisAccess } from './redis-access.ts';
import { createUploadStore, type UploadStore } from './upload-store.ts';
import { createUploads, type Uploads } from './uploads.ts';

export type { JobJson, JobSummary } from './job-json.ts';
export type { JobOwner } from './job-store.ts';
export type { JobStats } from './queue-state.ts';

export type JobRequest = {
  readonly owner: JobOwner;
  readonly idempotencyKey: string | null;
  /** HMAC-SHA256 of the request with `digestKey`, hexadecimal: see `digest.ts`. */
  readonly digest: string;
  readonly source: Payload['source'];
  readonly channel: number | null;
  readonly callback: string | null;
};

/** A page of jobs, and the last job of the page where more follow. */
export type JobPage = { readonly jobs: readonly JobSummary[]; readonly last: string | null };

/** Every function throws Failure `queue_unavailable` or `storage_unavailable` when its part is away. */
export type Jobs = {
  /** For the pieces of an upload; they are gone by themselves when the job is never begun. */
  readonly uploadStore: UploadStore;
  /** Read the forms of uploads and write their pieces. */
  readonly uploads: Uploads;
  /** `JobRequest.digest` of a request. */
  digest(request: DigestInput): string;
  createId(): string;
  /** Keeps so many places in the queue until `work` has filled them. @throws Failure `overloaded` when the owner may not have as many */
  reserveSlots<T>(holder: JobOwner, count: number, work: () => Promise<T>): Promise<T>;
  /**
   * Returns the existing job for a reused idempotency key. What waits for an `id` that is not begun is dropped.
   * @throws Failure `invalid` when the key was used for another request
   */
  create(id: string, request: JobRequest): Promise<JobJson>;
  find(holder: JobOwner, id: string): Promise<JobJson | null>;
  /** Newest first, from the one after `after` on; null when there is no such job. */
  list(holder: JobOwner, after: string | null): Promise<JobPage | null>;
  hasKey(holder: JobOwner, idempotencyKey: string): Promise<boolean>;
  /** @throws Failure `invalid` when the key was used for another request */
  findByKey(holder: JobOwner, idempotencyKey: string, digest: string): Promise<JobJson | null>;
  /** False when there is no such job. Work on it ends soon, and its callback says that it was cancelled. */
  remove(holder: JobOwner, id: string): Promise<boolean>;
  /** What callbacks of this holder are signed with. */
  callbackSecret(holder: JobOwner): string;
  stats(): Promise<JobStats>;
  close(): Promise<void>;
};

const idPrefix = 'job_';
const idLength = 20;
const sweepMs = 60_000;
/** The database knows of a job a moment before the queue does. */
const reconcileMs = 10_000;
/** Jobs of a page. */
export const pageSize = 100;

/** @throws PersistenceError when Redis is there and writes to a disk */
export async function openJobs(options: {
  readonly redisUrl: string;
  readonly database: Database;
  readonly secret: string;
  readonly settings: JobSettings;
  /** Hears of a Redis that is away at the start. */
  readonly onUnreachable: () => void;
  /** Hears why the upload thread was lost; it is replaced. */
  readonly onUploadThreadLost?: (cause: Error) => void;
}): Promise<Jobs> {
  const { redisUrl, secret, settings, onUnreachable } = options;
  const redis = openRedis(redisUrl);
  try {
    if (await waitForRedis(redis)) await requireNoPersistence(redis);
    else onUnreachable();
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  const cipher = createCipher(secret);
  const store = createJobStore(options.database);
  const queues = openQueues(redis, cipher);
  const sweeper = setInterval(() => void store.sweep().catch(() => {}), sweepMs).unref();
  const reach = createRedisAccess(redis);
  const uploadStore = reaching(createUploadStore({ redis, cipher, settings }), reach);
  const { audioSeconds, uploadSeconds } = settings;
  const uploads = createUploads({
    redisUrl,
    secret,
    settings: { audioSeconds, uploadSeconds },
    drop: uploadStore.delete,
    onLost: options.onUploadThreadLost,
  });
  const places = createQueueSlots({
    size: settings.queue,
    countUsed: (owner) => reach(() => Promise.all([countWaiting(queues), countWaitingOf(queues, owner)])),
  });
  const expiresAt = () => Date.now() + 1000 * (settings.audioSeconds + settings.resultSeconds);

  async function view(row: JobRow): Promise<JobJson> {
    if (row.outcome !== null) return toJobJson(row, null);
    const standing = await reach(() => queueStateOf(queues, row.id));
    if (standing !== null) return toJobJson(row, standing);
    return toJobJson((await reconcile(store, row, expiresAt())) ?? row, null);
  }

  async function summary(row: ListedRow): Promise<JobSummary> {
    if (row.outcome !== null) return toJobSummary(row, null);
    const standing = await reach(() => queueStateOf(queues, row.id));
    if (standing !== null) return toJobSummary(row, standing);
    return toJobSummary((await reconcile(store, row, expiresAt())) ?? row, null);
  }

  async function enter(id: string, request: JobRequest): Promise<JobJson> {
    const { owner, idempotencyKey, digest, ...rest } = request;
    const installation = await store.instanceId();
    const outcome = await store.insert({ id, owner, idempotencyKey, digest, expiresAt: expiresAt() });
    if (outcome === 'owner gone')
      throw new ServiceError('unauthenticated', 'The account of this token is gone');
    const row =
      outcome === 'done' ? await store.read(id) : await store.findByKey(owner, idempotencyKey ?? '');
    if (row === null) throw justRemoved();
    if (outcome === 'taken') {
      requireSameRequest(row, digest);
      await uploadStore.delete(id);
      return view(row);
    }
    const payload = encryptPayload({ ...rest, holder: owner.name, installation }, id, cipher);
    const queue = async () => {
      if (rest.source.kind === 'upload' && !(await uploadStore.keep(id))) throw justRemoved();
      await queues.analyses.add({ id, owner: owner.name, payload, createdAt: Number(row.created_at) });
    };
    await reach(queue).catch(async (error: unknown) => {
      await store.delete(id);
      throw error;
    });
    return toJobJson(row, { status: 'waiting', progress: null });
  }

  /** A job that a worker has is ended by the worker, which also calls back. */
  async function cancel(id: string): Promise<void> {
    const found = await reach(() => findQueued(queues, id));
    if (!(await store.cancel(id))) return store.delete(id);
    await reach(async () => {
      await uploadStore.delete(id);
      if (found === null) return;
      const { job, queue } = found;
      const payload = readPayload(job.data, id, cipher);
      if (payload === null || !(await queue.remove(job, payload.holder)) || payload.callback === null) return;
      const cancelled = encryptPayload({ ...payload, cancelledAt: Date.now() }, id, cipher);
      const entry = { id, owner: payload.holder, payload: cancelled, createdAt: job.timestamp };
      await queues.callbacks.add(entry);
    });
  }

  return {
    uploadStore,
    uploads,
    digest: (request) => digestRequest(cipher.digestKey, request),
    createId: () => idPrefix + randomBase62(idLength),
    reserveSlots: (holder, count, work) => places.reserve(holder.name, count, work),
    create: (id, request) =>
      enter(id, request).catch(async (error: unknown) => {
        await uploadStore.delete(id).catch(() => {});
        throw error;
      }),
    async find(holder, id) {
      const row = await store.find(holder, id);
      return row && view(row);
    },
    async list(holder, after) {
      const before = after === null ? null : await store.find(holder, after);
      if (after !== null && before === null) return null;
      const rows = await store.list(holder, before, pageSize + 1);
      const page = rows.slice(0, pageSize);
      const last = rows.length > pageSize ? (page.at(-1)?.id ?? null) : null;
      return { jobs: await Promise.all(page.map(summary)), last };
    },
    hasKey: async (holder, key) => (await store.findByKey(holder, key)) !== null,
    async findByKey(holder, key, digest) {
      const row = await store.findByKey(holder, key);
      if (row !== null) requireSameRequest(row, digest);
      return row && view(row);
    },
    async remove(holder, id) {
      const row = await store.find(holder, id);
      if (row === null) return false;
      await (row.outcome === null ? cancel(id) : store.delete(id));
      return true;
    },
    callbackSecret: (holder) => cipher.callbackSecret(holder.name),
    stats: () => reach(() => readStats(queues)),
    async close() {
      clearInterval(sweeper);
      await uploads.close();
      await queues.close();
      redis.disconnect();
    },
  };
}

/** Null when it is of a later release, whose workers find the job removed. */
function readPayload(sealed: EncryptedPayload, id: string, cipher: Cipher): Payload | null {
  try {
    return decryptPayload(sealed, id, cipher);
  } catch {
    return null;
  }
}

/** The job of an idempotency key was removed while the request was being read, or the recording has expired. */
function justRemoved(): ServiceError {
  return new ServiceError('overloaded', 'The job has just been removed; send it again');
}

/** Rows of earlier releases have no digest: any request is the same. */
function requireSameRequest({ digest }: JobRow, given: string): void {
  if (digest === null || digest === given) return;
  const message = 'Expected the request that this `Idempotency-Key` was first used for, got a different one';
  const problem = { where: 'header', field: 'Idempotency-Key', reason: 'idempotency_key', message } as const;
  throw new ServiceError('invalid', message, { problems: [problem] });
}

function reaching(uploadStore: UploadStore, reach: RedisAccess): UploadStore {
  return {
    append: (...piece) => reach(() => uploadStore.append(...piece)),
    keep: (id) => reach(() => uploadStore.keep(id)),
    read: (...part) => reach(() => uploadStore.read(...part)),
    delete: (id) => reach(() => uploadStore.delete(id)),
  };
}

/** A job that the queue does not know has just ended or just begun, or Redis forgot it: then it will never end. */
async function reconcile(store: JobStore, row: ListedRow, expiresAt: number): Promise<JobRow | null> {
  const now = await store.read(row.id);
  if (now === null || now.outcome !== null || Date.now() - Number(now.created_at) < reconcileMs) return now;
  await store.finish(row.id, 'failed', lostBody, expiresAt);
  await store.releaseKey(row.id);
  return store.read(row.id);
}
