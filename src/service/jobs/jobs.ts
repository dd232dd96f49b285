/** Jobs as the HTTP routes use them. */
import { randomBase62 } from '../auth/token-format.ts';
import type { JobSettings } from '../config.ts';
import type { Database } from '../database.ts';
import { deferred } from '../deferred.ts';
import { createFairBudget } from '../fair-share.ts';
import type { Redis } from '../redis.ts';
import { type Admission, createAdmission } from './admission.ts';
import {
  createJob,
  type JobRequest,
  type JobsContext,
  readByKey,
  readJob,
  readSummary,
  requireSameRequest,
} from './create-job.ts';
import {
  createJobStore,
  encodeJob,
  encodeJobs,
  type JobOwner,
  type JobStore,
  type JobSummary,
  type StoredJob,
  streamJob,
  streamJobs,
} from './job-store.ts';
import { createMemoryQueues, createMemoryUploads } from './memory-queues.ts';
import {
  type Cipher,
  createCipher,
  type DigestInput,
  decryptPayload,
  digestRequest,
  type EncryptedPayload,
  encryptCallback,
  type Payload,
} from './payload.ts';
import { countWaiting, findQueued, type JobStats, type Queues, readStats } from './queues.ts';
import type { RedisAccess } from './redis-uploads.ts';
import { bytesPerResponse, openStoredResults, type StoredResults } from './stored-results.ts';
import type { UploadStore } from './upload-store.ts';
import { createUploads, type Uploads } from './uploads.ts';

export type { JobRequest } from './create-job.ts';
export type { JobOwner, JobSummary, StoredJob } from './job-store.ts';
export type { JobStats } from './queues.ts';

/** One page of jobs; `last` is the id of its last job when more follow. */
type JobPage = { readonly jobs: readonly JobSummary[]; readonly last: string | null };

/** Promises reject with ServiceError `queue_unavailable` or `storage_unavailable`. */
export type Jobs = {
  /** Stores uploads, which expire unless they become jobs. */
  readonly uploadStore: UploadStore;
  readonly uploads: Uploads;
  digest(request: DigestInput): string;
  createId(): string;
  readonly admission: Admission;
  /** See createJob. */
  create(id: string, request: JobRequest): Promise<StoredJob>;
  find(owner: JobOwner, id: string): Promise<StoredJob | null>;
  readonly waits: ReturnType<typeof createJobWaits>;
  /** Newest first, older than the job `after`. Returns null for an unknown `after`. */
  list(owner: JobOwner, after: string | null): Promise<JobPage | null>;
  hasKey(owner: JobOwner, idempotencyKey: string): Promise<boolean>;
  /** @throws ServiceError `invalid` when the key was used for a different request */
  findByKey(owner: JobOwner, idempotencyKey: string, digest: string): Promise<StoredJob | null>;
  /** Cancels a job that has not ended, deletes one that has. Returns false for an unknown job. */
  remove(owner: JobOwner, id: string): Promise<boolean>;
  /** Signing secret of the owner's callbacks. */
  callbackSecret(owner: JobOwner): string;
  // For the worker of the service itself.
  readonly queues: Queues;
  readonly results: StoredResults;
  readonly encode: typeof encodeJob;
  readonly encodeAll: typeof encodeJobs;
  /** As `encode`, with the result piece by piece from the database. */
  stream(job: StoredJob, more?: object): AsyncIterable<string | Uint8Array>;
  /** In memory, of a response with results. */
  readonly bytesPerResponse: number;
  streamAll(jobs: readonly StoredJob[], more: object): AsyncIterable<string | Uint8Array>;
  stats(): Promise<JobStats>;
  close(): Promise<void>;
};

type JobsOptions = {
  /** Null keeps queues and recordings in the memory of this process. */
  readonly redisUrl: string | null;
  readonly database: Database;
  readonly databaseUrl: string;
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
  const { context, close } = await openContext(options);
  const { store, queues, cipher, uploadStore, withRedis } = context;
  const { redisUrl, secret, settings } = options;
  const uploads = createUploads({
    redisUrl,
    secret,
    settings: {
      audioSeconds: settings.audioSeconds,
      resultSeconds: settings.resultSeconds,
      uploadSeconds: settings.uploadSeconds,
    },
    store: uploadStore,
    onLost: options.onUploadThreadLost,
  });
  const results = openStoredResults(options.database, options.databaseUrl);
  const waits = createJobWaits(store);
  const admission = createAdmission({
    store,
    settings,
    countUsed: (owner) => withRedis(() => countWaiting(queues, owner)),
  });
  return {
    ...createLookups(context),
    uploadStore,
    uploads,
    digest: (request) => digestRequest(cipher.digestKey, request),
    createId: () => idPrefix + randomBase62(idLength),
    waits,
    admission,
    create: (id, request) => createJob(context, id, request),
    async remove(owner, id) {
      const row = await store.find(owner, id);
      if (row === null) return false;
      await (row.outcome === null ? cancelJob(context, id) : store.delete(id));
      return true;
    },
    callbackSecret: (owner) => cipher.callbackSecret(owner.key),
    queues,
    results,
    encode: encodeJob,
    encodeAll: encodeJobs,
    stream: (job, more = {}) => streamJob(job, more, results.pieces),
    bytesPerResponse,
    streamAll: (all, more) => streamJobs(all, more, results.pieces),
    stats: () => withRedis(async () => readStats(queues, await uploadStore.countHeld())),
    async close() {
      waits.end();
      await uploads.close();
      await results.close();
      await close();
    },
  };
}

async function openContext({ redisUrl, onUnreachable, database, secret, settings }: JobsOptions) {
  const cipher = createCipher(secret);
  const shared = {
    store: createJobStore(database),
    cipher,
    expiresAt: () => Date.now() + 1000 * (settings.audioSeconds + settings.resultSeconds),
  };
  if (redisUrl === null) {
    const own = { queues: createMemoryQueues(), uploadStore: createMemoryUploads(settings) };
    const context: JobsContext = { ...shared, ...own, withRedis: (work) => work() };
    return { context, close: own.queues.close };
  }
  const redis = await connect(redisUrl, onUnreachable);
  const { openQueues } = await import('./redis-queues.ts');
  const { createRedisAccess, createUploadStore } = await import('./redis-uploads.ts');
  const withRedis = createRedisAccess(redis);
  const queues = openQueues(redis, cipher);
  const uploadStore = guardUploadStore(createUploadStore({ redis, cipher, settings }), withRedis);
  const close = async () => {
    await queues.close();
    redis.disconnect();
  };
  return { context: { ...shared, queues, uploadStore, withRedis } satisfies JobsContext, close };
}

async function connect(redisUrl: string, onUnreachable: () => void): Promise<Redis> {
  const { openRedis, requireNoPersistence, waitForRedis } = await import('../redis.ts');
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

function guardUploadStore(store: UploadStore, withRedis: RedisAccess): UploadStore {
  return {
    append: (chunk) => withRedis(() => store.append(chunk)),
    reserve: (...payload) => withRedis(() => store.reserve(...payload)),
    keep: (id) => withRedis(() => store.keep(id)),
    read: (...part) => withRedis(() => store.read(...part)),
    delete: (id) => withRedis(() => store.delete(id)),
    countHeld: () => withRedis(store.countHeld),
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
      const jobs = await Promise.all(page.map((row) => readSummary(context, row)));
      return { jobs: jobs.filter((job) => job !== null), last };
    },
    hasKey: async (owner, key) => (await readByKey(context, owner, key)) !== null,
    async findByKey(owner, key, digest) {
      const row = await readByKey(context, owner, key);
      if (row !== null) requireSameRequest(row, digest);
      return row && readJob(context, row);
    },
  };
}

// Cancels a job that has not ended.

/** A running job is ended by its worker, which also sends the callback. */
async function cancelJob(context: JobsContext, id: string): Promise<void> {
  const { store, queues, cipher, uploadStore, withRedis } = context;
  const queued = await withRedis(() => findQueued(queues, id));
  if (!(await store.cancel(id))) return store.delete(id);
  await withRedis(async () => {
    await uploadStore.delete(id);
    if (queued === null) return;
    const { entry, queue } = queued;
    const payload = readPayload(entry.payload, id, cipher);
    if (payload === null || !(await queue.remove(id, payload.owner)) || payload.callback === null) return;
    const { owner } = payload;
    const cancelled = encryptCallback({ ...payload, cancelledAt: Date.now() }, id, cipher);
    await queues.callbacks.add({ id, owner, payload: cancelled, createdAt: entry.createdAt });
  });
}

/** Null for a payload of a later release, whose worker finds the job removed. */
function readPayload(encrypted: EncryptedPayload, id: string, cipher: Cipher): Payload | null {
  try {
    return decryptPayload(encrypted, id, cipher);
  } catch {
    return null;
  }
}

// Requests that wait for the end of a job: one query at a time asks the database about all jobs that are waited for.

const pollMs = 250;
/** Each is an open request. */
const maxWaits = 1024;

export function createJobWaits(store: Pick<JobStore, 'findOpen'>) {
  /** Ids of jobs by the function that resolves their wait. */
  const waits = new Map<() => void, string>();
  const budget = createFairBudget(maxWaits);
  let polling = false;
  let ended = false;

  async function poll(): Promise<void> {
    const asked = [...waits];
    // The request reports a failure by its next query.
    const ids = [...new Set(waits.values())];
    const open = new Set(ids.length === 0 ? [] : await store.findOpen(ids).catch(() => []));
    for (const [resolve, id] of asked) if (!open.has(id)) resolve();
    polling = false;
    schedule();
  }

  function schedule(): void {
    if (polling || waits.size === 0) return;
    polling = true;
    setTimeout(() => void poll(), pollMs);
  }

  return {
    /**
     * Resolves when the job has ended or is gone, after `ms`, and when `signal` aborts; at once after `end`, and when the
     * owner has its share of the waits.
     */
    async wait(owner: JobOwner, id: string, ms: number, signal: AbortSignal): Promise<void> {
      const reservation = budget.open([owner.key]);
      if (ended || signal.aborted || !reservation.add(1)) return;
      const { promise, resolve } = deferred<void>();
      const end = () => resolve();
      const limit = setTimeout(end, ms);
      signal.addEventListener('abort', end);
      waits.set(end, id);
      schedule();
      await promise;
      clearTimeout(limit);
      waits.delete(end);
      reservation.release();
    },
    count: () => waits.size,
    /** Resolves every wait, now and later. */
    end: () => {
      ended = true;
      for (const resolve of waits.keys()) resolve();
    },
  };
}
