/** Jobs as the HTTP routes see them: begun, found, listened to and removed. */

import type { Database } from '../accounts/storage.ts';
import { drawText } from '../accounts/token-format.ts';
import type { JobSettings } from '../config.ts';
import { Failure } from '../errors.ts';
import { openRedis, requireNoPersistence, waitForRedis } from '../redis.ts';
import { type Order, sealOrder } from './order.ts';
import { openQueues, type Queues } from './queues.ts';
import { createReach, type Reach } from './reach.ts';
import { createVault } from './seal.ts';
import { createJobStore, type Holder, type JobRow, type JobStore } from './store.ts';
import { createUploads, type Uploads } from './uploads.ts';
import { isProgress, type JobView, lostBody, type Standing, viewOf } from './view.ts';
import { createWaiting, type Waiting } from './waiting.ts';

export type { Holder } from './store.ts';
export type { JobView } from './view.ts';

export type JobRequest = {
  readonly holder: Holder;
  readonly idempotencyKey: string | null;
  readonly source: Order['source'];
  readonly channel: number | null;
  readonly callback: string | null;
};

export type JobFigures = {
  readonly waiting: number;
  readonly running: number;
  /** Seconds that the first in the queue has waited. */
  readonly oldest: number;
};

/** Every function throws Failure `queue_unavailable` or `storage_unavailable` when its part is away. */
export type Jobs = {
  /** For the pieces of an upload; they are gone by themselves when the job is never begun. */
  readonly waiting: Waiting;
  /** Read the forms of uploads and write their pieces. */
  readonly uploads: Uploads;
  drawId(): string;
  /** Keeps so many places in the queue until `work` has filled them. @throws Failure `overloaded` when there are fewer */
  withPlaces<T>(count: number, work: () => Promise<T>): Promise<T>;
  /** What there is already under the idempotency key is the answer. What waits for an `id` that is not begun is dropped. */
  begin(id: string, request: JobRequest): Promise<JobView>;
  find(holder: Holder, id: string): Promise<JobView | null>;
  findByKey(holder: Holder, idempotencyKey: string): Promise<JobView | null>;
  /** False when there is no such job. Work on it ends soon. */
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
  /** Places of this process whose jobs are not in the queue yet. */
  let kept = 0;
  const expiresAt = () => Date.now() + 1000 * (settings.audioSeconds + settings.resultSeconds);

  async function view(row: JobRow): Promise<JobView> {
    if (row.outcome !== null) return viewOf(row, null);
    const standing = await reach(() => standingOf(queues, row.id));
    if (standing !== null) return viewOf(row, standing);
    return viewOf(await settle(store, row, expiresAt()), { status: 'waiting', progress: null });
  }

  async function begin(id: string, request: JobRequest): Promise<JobView> {
    return enter(id, request).catch(async (error: unknown) => {
      await waiting.drop(id).catch(() => {});
      throw error;
    });
  }

  async function enter(id: string, request: JobRequest): Promise<JobView> {
    const { holder, idempotencyKey, ...rest } = request;
    const installation = await store.installation();
    const outcome = await store.insert({ id, holder, idempotencyKey, expiresAt: expiresAt() });
    if (outcome === 'owner gone') throw new Failure('unauthenticated', 'The account of this token is gone');
    const row =
      outcome === 'done' ? await store.read(id) : await store.findByKey(holder, idempotencyKey ?? '');
    if (row === null) throw new Failure('overloaded', 'The job has just been removed; send it again');
    if (outcome === 'taken') {
      await waiting.drop(id);
      return view(row);
    }
    const order = sealOrder({ ...rest, holder: holder.name, installation }, id, vault);
    const queue = async () => {
      await waiting.keep(id);
      await queues.analyses.add('analysis', order, { jobId: id });
    };
    await reach(queue).catch(async (error: unknown) => {
      await store.remove(id);
      throw error;
    });
    return viewOf(row, { status: 'waiting', progress: null });
  }

  return {
    waiting,
    uploads,
    drawId: () => idPrefix + drawText(idLength),
    begin,
    async withPlaces(count, work) {
      const waiting = await reach(() => queues.analyses.getJobCountByTypes('waiting', 'delayed'));
      if (waiting + kept + count > settings.queue) throw queueFull(count);
      kept += count;
      try {
        return await work();
      } finally {
        kept -= count;
      }
    },
    async find(holder, id) {
      const row = await store.find(holder, id);
      return row && view(row);
    },
    async findByKey(holder, key) {
      const row = await store.findByKey(holder, key);
      return row && view(row);
    },
    async remove(holder, id) {
      const row = await store.find(holder, id);
      if (row === null) return false;
      if (row.outcome === null) await reach(() => discard(queues, waiting, id));
      await store.remove(id);
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

function queueFull(count: number): Failure {
  return new Failure('overloaded', `The queue of jobs has no place for ${count} more`);
}

function reaching(waiting: Waiting, reach: Reach): Waiting {
  return {
    add: (...piece) => reach(() => waiting.add(...piece)),
    keep: (id) => reach(() => waiting.keep(id)),
    read: (...part) => reach(() => waiting.read(...part)),
    drop: (id) => reach(() => waiting.drop(id)),
  };
}

/** Null when the queue does not know it. */
async function standingOf({ analyses }: Queues, id: string): Promise<Standing | null> {
  const job = await analyses.getJob(id);
  if (job === undefined) return null;
  const state = await job.getState();
  if (state === 'unknown' || state === 'completed' || state === 'failed') return null;
  const progress = isProgress(job.progress) ? job.progress : null;
  return { status: state === 'active' ? 'running' : 'waiting', progress };
}

/** A job that the queue does not know has just ended or just begun, or Redis forgot it: then it will never end. */
async function settle(store: JobStore, row: JobRow, expiresAt: number): Promise<JobRow> {
  const now = (await store.read(row.id)) ?? row;
  if (now.outcome !== null || Date.now() - Number(now.created_at) < settleMs) return now;
  await store.finish(row.id, 'failed', lostBody, expiresAt);
  await store.releaseKey(row.id);
  return (await store.read(row.id)) ?? row;
}

/** One that a worker has is locked: the worker notices by itself. */
async function discard({ analyses }: Queues, waiting: Waiting, id: string): Promise<void> {
  await waiting.drop(id);
  const job = await analyses.getJob(id);
  await job?.remove().catch((error: Error) => {
    if (!/locked/.test(error.message)) throw error;
  });
}

async function figuresOf({ analyses }: Queues): Promise<JobFigures> {
  const [counts, [first]] = await Promise.all([
    analyses.getJobCounts('waiting', 'delayed', 'active'),
    analyses.getJobs(['waiting'], 0, 0, true),
  ]);
  return {
    waiting: (counts.waiting ?? 0) + (counts.delayed ?? 0),
    running: counts.active ?? 0,
    oldest: first === undefined ? 0 : Math.max(0, Date.now() - first.timestamp) / 1000,
  };
}
