/** Jobs as the HTTP routes use them. */
import { randomBase62 } from '../auth/token-format.ts';
import { type Admission, createAdmission } from './admission.ts';
import { cancelJob } from './cancel-job.ts';
import { type ContextOptions, type JobsContext, openContext } from './context.ts';
import { createJob, type JobRequest, requireSameRequest } from './create-job.ts';
import { encodeJob, encodeJobs, type JobSummary, type StoredJob, streamJob, streamJobs } from './job-json.ts';
import type { JobOwner } from './job-store.ts';
import { countWaiting, type JobStats, readStats } from './queue-state.ts';
import type { Queues } from './queues.ts';
import { readByKey, readJob, readSummary } from './read-job.ts';
import { type DigestInput, digestRequest } from './request-digest.ts';
import { bytesPerResponse, openStoredResults, type StoredResults } from './stored-results.ts';
import type { UploadStore } from './upload-store.ts';
import { createUploads, type Uploads } from './uploads.ts';
import { createJobWaits } from './waits.ts';

export type { JobRequest } from './create-job.ts';
export type { StoredJob } from './job-json.ts';
export type { JobOwner } from './job-store.ts';
export type { JobStats } from './queue-state.ts';

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
  // For the embedded worker.
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

type JobsOptions = ContextOptions & {
  readonly databaseUrl: string;
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
