/** Jobs as the HTTP routes see them: created, found, listed and removed. */

import { drawText } from '../auth/token-format.ts';
import type { Database } from '../db/database.ts';
import type { JobSettings } from '../runtime/config.ts';
import { Failure } from '../runtime/errors.ts';
import { openRedis, requireNoPersistence, waitForRedis } from '../runtime/redis.ts';
import { type DigestInput, digestRequest } from './digest.ts';
import { createVault, type Vault } from './encryption.ts';
import { type JobSummary, type JobView, lostBody, summaryOf, viewOf } from './job-json.ts';
import { createJobStore, type Holder, type JobRow, type JobStore, type ListedRow } from './job-store.ts';
import { openPayload, type Payload, type SealedPayload, sealPayload } from './payload.ts';
import { createPlaces } from './queue-slots.ts';
import {
  countWaiting,
  countWaitingOf,
  figuresOf,
  findQueued,
  type JobFigures,
  standingOf,
} from './queue-state.ts';
import { openQueues } from './queues.ts';
import { createReach, type Reach } from './redis-access.ts';
import { createWaiting, type Waiting } from './upload-store.ts';
import { createUploads, type Uploads } from './uploads.ts';

export type { JobSummary, JobView } from './job-json.ts';
export type { Holder } from './job-store.ts';
export type { JobFigures } from './queue-state.ts';

export type JobRequest = {
  readonly holder: Holder;
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
  readonly waiting: Waiting;
  /** Read the forms of uploads and write their pieces. */
  readonly uploads: Uploads;
  /** `JobRequest.digest` of a request. */
  digest(request: DigestInput): string;
  drawId(): string;
  /** Keeps so many places in the queue until `work` has filled them. @throws Failure `overloaded` when the owner may not have as many */
  withPlaces<T>(holder: Holder, count: number, work: () => Promise<T>): Promise<T>;
  /**
   * Returns the existing job for a reused idempotency key. What waits for an `id` that is not begun is dropped.
   * @throws Failure `invalid` when the key was used for another request
   */
  begin(id: string, request: JobRequest): Promise<JobView>;
  find(holder: Holder, id: string): Promise<JobView | null>;
  /** Newest first, from the one after `after` on; null when there is no such job. */
  list(holder: Holder, after: string | null): Promise<JobPage | null>;
  hasKey(holder: Holder, idempotencyKey: string): Promise<boolean>;
  /** @throws Failure `invalid` when the key was used for another request */
  findByKey(holder: Holder, idempotencyKey: string, digest: string): Promise<JobView | null>;
  /** False when there is no such job. Work on it ends soon, and its callback says that it was cancelled. */
  remove(holder: Holder, id: string): Promise<boolean>;
  /** What callbacks of this holder are signed with. */
  callbackSecret(holder: Holder): string;
  figures(): Promise<JobFigures>;
  close(): Promise<void>;
};

const idPrefix = 'job_';
const idLength = 20;
const sweepMs = 60_000;
/** The database knows of a job a moment before the queue does. */
const settleMs = 10_000;
/** Jobs of a page. */
export const pageSize = 100;

/** @throws PersistenceError when Redis is there and writes to a disk */
export async function openJobs(options: {
  readonly redisUrl: string;
  readonly database: Database;
  readonly secret: string;
  readonly settings: JobSettings;
  /** Hears of a Redis that is away at the start. */
  readonly onAway: () => void;
  /** Hears why the upload thread was lost; it is replaced. */
  readonly onUploadThreadLost?: (cause: Error) => void;
}): Promise<Jobs> {
  const { redisUrl, secret, settings, onAway } = options;
  const redis = openRedis(redisUrl);
  try {
    if (await waitForRedis(redis)) await requireNoPersistence(redis);
    else onAway();
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  const vault = createVault(secret);
  const store = createJobStore(options.database);
  const queues = openQueues(redis, vault);
  const sweeper = setInterval(() => void store.sweep().catch(() => {}), sweepMs).unref();
  const reach = createReach(redis);
  const waiting = reaching(createWaiting({ redis, vault, settings }), reach);
  const { audioSeconds, uploadSeconds } = settings;
  const uploads = createUploads({
    redisUrl,
    secret,
    settings: { audioSeconds, uploadSeconds },
    drop: waiting.drop,
    onLost: options.onUploadThreadLost,
  });
  const places = createPlaces({
    size: settings.queue,
    countTaken: (owner) => reach(() => Promise.all([countWaiting(queues), countWaitingOf(queues, owner)])),
  });
  const expiresAt = () => Date.now() + 1000 * (settings.audioSeconds + settings.resultSeconds);

  async function view(row: JobRow): Promise<JobView> {
    if (row.outcome !== null) return viewOf(row, null);
    const standing = await reach(() => standingOf(queues, row.id));
    if (standing !== null) return viewOf(row, standing);
    return viewOf((await settle(store, row, expiresAt())) ?? row, null);
  }

  async function summary(row: ListedRow): Promise<JobSummary> {
    if (row.outcome !== null) return summaryOf(row, null);
    const standing = await reach(() => standingOf(queues, row.id));
    if (standing !== null) return summaryOf(row, standing);
    return summaryOf((await settle(store, row, expiresAt())) ?? row, null);
  }

  async function enter(id: string, request: JobRequest): Promise<JobView> {
    const { holder, idempotencyKey, digest, ...rest } = request;
    const installation = await store.installation();
    const outcome = await store.insert({ id, holder, idempotencyKey, digest, expiresAt: expiresAt() });
    if (outcome === 'owner gone') throw new Failure('unauthenticated', 'The account of this token is gone');
    const row =
      outcome === 'done' ? await store.read(id) : await store.findByKey(holder, idempotencyKey ?? '');
    if (row === null) throw justRemoved();
    if (outcome === 'taken') {
      requireSameRequest(row, digest);
      await waiting.drop(id);
      return view(row);
    }
    const payload = sealPayload({ ...rest, holder: holder.name, installation }, id, vault);
    const queue = async () => {
      if (rest.source.kind === 'upload' && !(await waiting.keep(id))) throw justRemoved();
      await queues.analyses.add({ id, owner: holder.name, payload, createdAt: Number(row.created_at) });
    };
    await reach(queue).catch(async (error: unknown) => {
      await store.remove(id);
      throw error;
    });
    return viewOf(row, { status: 'waiting', progress: null });
  }

  /** A job that a worker has is ended by the worker, which also calls back. */
  async function cancel(id: string): Promise<void> {
    const found = await reach(() => findQueued(queues, id));
    if (!(await store.cancel(id))) return store.remove(id);
    await reach(async () => {
      await waiting.drop(id);
      if (found === null) return;
      const { job, queue } = found;
      const payload = readPayload(job.data, id, vault);
      if (payload === null || !(await queue.remove(job, payload.holder)) || payload.callback === null) return;
      const cancelled = sealPayload({ ...payload, cancelledAt: Date.now() }, id, vault);
      const entry = { id, owner: payload.holder, payload: cancelled, createdAt: job.timestamp };
      await queues.callbacks.add(entry);
    });
  }

  return {
    waiting,
    uploads,
    digest: (request) => digestRequest(vault.digestKey, request),
    drawId: () => idPrefix + drawText(idLength),
    withPlaces: (holder, count, work) => places.reserve(holder.name, count, work),
    begin: (id, request) =>
      enter(id, request).catch(async (error: unknown) => {
        await waiting.drop(id).catch(() => {});
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
      await (row.outcome === null ? cancel(id) : store.remove(id));
      return true;
    },
    callbackSecret: (holder) => vault.callbackSecret(holder.name),
    figures: () => reach(() => figuresOf(queues)),
    async close() {
      clearInterval(sweeper);
      await uploads.close();
      await queues.close();
      redis.disconnect();
    },
  };
}

/** Null when it is of a later release, whose workers find the job removed. */
function readPayload(sealed: SealedPayload, id: string, vault: Vault): Payload | null {
  try {
    return openPayload(sealed, id, vault);
  } catch {
    return null;
  }
}

/** The job of an idempotency key was removed while the request was being read, or the recording has expired. */
function justRemoved(): Failure {
  return new Failure('overloaded', 'The job has just been removed; send it again');
}

/** Rows of earlier releases have no digest: any request is the same. */
function requireSameRequest({ digest }: JobRow, given: string): void {
  if (digest === null || digest === given) return;
  const msg = 'Expected the request that this `Idempotency-Key` was first used for, got a different one';
  const type = 'value_error.idempotency_key';
  throw new Failure('invalid', msg, [{ loc: ['header', 'Idempotency-Key'], msg, type }]);
}

function reaching(waiting: Waiting, reach: Reach): Waiting {
  return {
    add: (...piece) => reach(() => waiting.add(...piece)),
    keep: (id) => reach(() => waiting.keep(id)),
    read: (...part) => reach(() => waiting.read(...part)),
    drop: (id) => reach(() => waiting.drop(id)),
  };
}

/** A job that the queue does not know has just ended or just begun, or Redis forgot it: then it will never end. */
async function settle(store: JobStore, row: ListedRow, expiresAt: number): Promise<JobRow | null> {
  const now = await store.read(row.id);
  if (now === null || now.outcome !== null || Date.now() - Number(now.created_at) < settleMs) return now;
  await store.finish(row.id, 'failed', lostBody, expiresAt);
  await store.releaseKey(row.id);
  return store.read(row.id);
}
