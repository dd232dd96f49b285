/** Jobs as the HTTP routes use them. */
import { randomBase62 } from '../auth/token-format.ts';
import type { Database } from '../db/database.ts';
import type { JobSettings } from '../runtime/config.ts';
import { openRedis, type Redis, requireNoPersistence, waitForRedis } from '../runtime/redis.ts';
import { cancelJob } from './cancel-job.ts';
import { createJob, type JobRequest, requireSameRequest } from './create-job.ts';
import { type DigestInput, digestRequest } from './digest.ts';
import { createCipher } from './encryption.ts';
import { encodeJob, encodeJobs, type JobSummary, type StoredJob } from './job-json.ts';
import { createJobStore, type JobOwner } from './job-store.ts';
import { createJobWaits, type JobWaits } from './job-waits.ts';
import type { JobsContext } from './jobs-context.ts';
import { createQueueSlots, type QueueSlots } from './queue-slots.ts';
import { countWaiting, type JobStats, readStats } from './queue-state.ts';
import { openQueues } from './queues.ts';
import { readJob, readSummary } from './read-job.ts';
import { createRedisAccess, type RedisAccess } from './redis-access.ts';
import { createUploadStore, type UploadStore } from './upload-store.ts';
import { createUploads, type Uploads } from './uploads.ts';

export type { JobRequest } from './create-job.ts';
export type { JobSummary, StoredJob } from './job-json.ts';
export type { JobOwner } from './job-store.ts';
export type { JobStats } from './queue-state.ts';

/** One page of jobs; `last` is the id of its last job when more follow. */
export type JobPage = { readonly jobs: readonly JobSummary[]; readonly last: string | null };

/** Promises reject with ServiceError `queue_unavailable` or `storage_unavailable`. */
export type Jobs = {
  /** Stores uploads, which expire unless they become jobs. */
  readonly uploadStore: UploadStore;
  readonly uploads: Uploads;
  digest(request: DigestInput): string;
  createId(): string;
  /** See QueueSlots. */
  reserveSlots<T>(owner: JobOwner, count: number, work: () => Promise<T>): Promise<T>;
  /** See createJob. */
  create(id: string, request: JobRequest): Promise<StoredJob>;
  find(owner: JobOwner, id: string): Promise<StoredJob | null>;
  readonly waits: JobWaits;
  /** Newest first, older than the job `after`. Returns null for an unknown `after`. */
  list(owner: JobOwner, after: string | null): Promise<JobPage | null>;
  hasKey(owner: JobOwner, idempotencyKey: string): Promise<boolean>;
  /** @throws ServiceError `invalid` when the key was used for a different request */
  findByKey(owner: JobOwner, idempotencyKey: string, digest: string): Promise<StoredJob | null>;
  /** Cancels a job that has not ended, deletes one that has. Returns false for an unknown job. */
  remove(owner: JobOwner, id: string): Promise<boolean>;
  /** Signing secret of the owner's callbacks. */
  callbackSecret(owner: JobOwner): string;
  readonly encode: typeof encodeJob;
  readonly encodeAll: typeof encodeJobs;
  stats(): Promise<JobStats>;
  close(): Promise<void>;
};

type JobsOptions = {
  readonly redisUrl: string;
  readonly database: Database;
  readonly secret: string;
  readonly settings: JobSettings;
  /** Called when Redis cannot be reached at the start. */
  readonly onUnreachable: () => void;
  /** The upload thread is replaced. */
  readonly onUploadThreadLost?: (cause: Error) => void;
};

const idPrefix = 'job_';
const idLength = 20;
/** Jobs per page. */
const pageSize = 100;

/** @throws PersistenceError when Redis is reachable and persists */
export async function openJobs(options: JobsOptions): Promise<Jobs> {
  const redis = await connect(options);
  const context = createContext(redis, options);
  const { store, queues, cipher, uploadStore, withRedis } = context;
  const { redisUrl, secret, settings } = options;
  const uploads = createUploads({
    redisUrl,
    secret,
    settings: { audioSeconds: settings.audioSeconds, uploadSeconds: settings.uploadSeconds },
    drop: uploadStore.delete,
    onLost: options.onUploadThreadLost,
  });
  const waits = createJobWaits(store);
  const slots: QueueSlots = createQueueSlots({
    size: settings.queue,
    countUsed: (owner) => withRedis(() => countWaiting(queues, owner)),
  });
  return {
    ...createLookups(context),
    uploadStore,
    uploads,
    digest: (request) => digestRequest(cipher.digestKey, request),
    createId: () => idPrefix + randomBase62(idLength),
    waits,
    reserveSlots: (owner, count, work) => slots.reserve(owner.key, count, work),
    create: (id, request) => createJob(context, id, request),
    async remove(owner, id) {
      const row = await store.find(owner, id);
      if (row === null) return false;
      await (row.outcome === null ? cancelJob(context, id) : store.delete(id));
      return true;
    },
    callbackSecret: (owner) => cipher.callbackSecret(owner.key),
    encode: encodeJob,
    encodeAll: encodeJobs,
    stats: () => withRedis(() => readStats(queues)),
    async close() {
      waits.end();
      await uploads.close();
      await queues.close();
      redis.disconnect();
    },
  };
}

async function connect({ redisUrl, onUnreachable }: JobsOptions): Promise<Redis> {
  const redis = openRedis(redisUrl);
  try {
    if (await waitForRedis(redis)) await requireNoPersistence(redis);
    else onUnreachable();
    return redis;
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

function createContext(redis: Redis, { database, secret, settings }: JobsOptions): JobsContext {
  const cipher = createCipher(secret);
  const withRedis = createRedisAccess(redis);
  return {
    store: createJobStore(database),
    queues: openQueues(redis, cipher),
    cipher,
    withRedis,
    uploadStore: guardUploadStore(createUploadStore({ redis, cipher, settings }), withRedis),
    expiresAt: () => Date.now() + 1000 * (settings.audioSeconds + settings.resultSeconds),
  };
}

function guardUploadStore(store: UploadStore, withRedis: RedisAccess): UploadStore {
  return {
    append: (...chunk) => withRedis(() => store.append(...chunk)),
    keep: (id) => withRedis(() => store.keep(id)),
    read: (...part) => withRedis(() => store.read(...part)),
    delete: (id) => withRedis(() => store.delete(id)),
  };
}

function createLookups(context: JobsContext): Pick<Jobs, 'find' | 'list' | 'hasKey' | 'findByKey'> {
  const { store } = context;
  return {
    async find(owner, id) {
      const row = await store.find(owner, id);
      return row && readJob(context, row);
    },
    async list(owner, after) {
      const before = after === null ? null : await store.find(owner, after);
      if (after !== null && before === null) return null;
      const rows = await store.list(owner, before, pageSize + 1);
      const page = rows.slice(0, pageSize);
      const last = rows.length > pageSize ? (page.at(-1)?.id ?? null) : null;
      return { jobs: await Promise.all(page.map((row) => readSummary(context, row))), last };
    },
    hasKey: async (owner, key) => (await store.findByKey(owner, key)) !== null,
    async findByKey(owner, key, digest) {
      const row = await store.findByKey(owner, key);
      if (row !== null) requireSameRequest(row, digest);
      return row && readJob(context, row);
    },
  };
}
