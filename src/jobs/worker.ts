/** Takes jobs from the queue, analyses them, writes what came of them and tells who asked to be told. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, WaitingError, Worker } from 'bullmq';
import type { Logger } from 'pino';
import type { Database } from '../accounts/storage.ts';
import type { Config } from '../config.ts';
import { Failure, toFailure } from '../errors.ts';
import { openPatientRedis, type Redis, requireNoPersistence, withoutCommand } from '../redis.ts';
import { type Crew, openCrew } from './crew.ts';
import { fetchObject, UnreachableError, unreachable } from './objects.ts';
import { type Order, openOrder, type SealedOrder, sealOrder } from './order.ts';
import { basis, openQueues, type Queues, queueNames } from './queues.ts';
import { createVault, type Vault } from './seal.ts';
import { createJobStore, type JobStore } from './store.ts';
import { errorBody, viewOf } from './view.ts';
import { createWaiting, type Waiting } from './waiting.ts';
import { deliver } from './webhook.ts';

export type Work = {
  /** Takes no more jobs; those that are not done in time go back into the queue. */
  stop(): Promise<void>;
  /** The same without the time. */
  breakOff(): Promise<void>;
};

type Hands = {
  readonly config: Config;
  readonly logger: Logger;
  readonly vault: Vault;
  readonly store: JobStore;
  readonly waiting: Waiting;
  readonly queues: Queues;
  readonly crew: Crew;
  /** Jobs go back into the queue. */
  readonly stop: AbortSignal;
};

/** A worker that is gone is noticed after the first of these, plus at most the second. */
const lockMs = 15_000;
const lookMs = 5000;
/** Workers that may be lost with a job before it is given up. */
const mostLost = 3;
const callbacksAtOnce = 16;
/** How long a job of another database is left to others, and its place here empty. */
const leftMs = 5000;
const emptyMs = 1000;

/** @throws PersistenceError */
export async function startWork(options: {
  readonly config: Config;
  readonly redisUrl: string;
  readonly database: Database;
  readonly secret: string;
  readonly logger: Logger;
}): Promise<Work> {
  const { config, logger } = options;
  const redis = openPatientRedis(options.redisUrl);
  let crew: Crew;
  try {
    await requireNoPersistence(redis);
    const limits = { ...config.limits, seconds: config.jobs.maxSeconds, deadlineSeconds: 0 };
    crew = await openCrew({
      threads: config.workers,
      settings: { modelsDir: config.modelsDir, limits },
      onLost: (cause) => logger.error({ err: cause }, 'worker lost'),
    });
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  const vault = createVault(options.secret);
  const stop = new AbortController();
  const hands: Hands = {
    config,
    logger,
    vault,
    store: createJobStore(options.database),
    waiting: createWaiting({ redis, vault, settings: config.jobs }),
    queues: openQueues(redis, vault),
    crew,
    stop: stop.signal,
  };
  const workers = openWorkers(redis, hands);
  let ending: Promise<void> | null = null;
  async function end(): Promise<void> {
    const over = setTimeout(() => stop.abort(), 1000 * config.shutdownSeconds);
    await Promise.all(workers.map((worker) => worker.close()));
    clearTimeout(over);
    await crew.close();
    await hands.queues.close();
    redis.disconnect();
  }
  const work: Work = {
    stop: () => (ending ??= end()),
    breakOff: () => {
      stop.abort();
      return work.stop();
    },
  };
  return work;
}

function openWorkers(redis: Redis, hands: Hands): Worker[] {
  const { config, logger, vault } = hands;
  const names = queueNames(vault);
  const locks = { lockDuration: lockMs, stalledInterval: lookMs, maxStalledCount: mostLost };
  const shared = { ...basis(redis), ...locks };
  const analyses = new Worker<SealedOrder>(names.analyses, (job, token) => takeJob(hands, job, token), {
    ...shared,
    concurrency: config.workers,
  });
  analyses.on('failed', (job, error) => {
    logger.warn({ job_id: job?.id, attempt: job?.attemptsMade, err: withoutCommand(error) }, 'job not done');
    if (job !== undefined && !mayRetry(job)) void giveUp(hands, job).catch(() => {});
  });
  const callbacks = new Worker<SealedOrder>(names.callbacks, (job, token) => callBack(hands, job, token), {
    ...shared,
    concurrency: callbacksAtOnce,
  });
  callbacks.on('failed', (job, error) => {
    logger.warn({ job_id: job?.id, attempt: job?.attemptsMade, reason: error.message }, 'callback not heard');
  });
  for (const worker of [analyses, callbacks]) {
    worker.on('error', (error) => logger.warn({ reason: error.message }, 'queue'));
  }
  return [analyses, callbacks];
}

function mayRetry(job: Job): boolean {
  return job.finishedOn === undefined;
}

/** Too many workers were lost with it, or too many attempts ended in faults of ours. */
async function giveUp(hands: Hands, job: Job<SealedOrder>): Promise<void> {
  const id = job.id as string;
  const order = openOrder(job.data, id, hands.vault);
  if (order.installation !== (await hands.store.installation())) return;
  const failure = new Failure('worker_lost', 'The workers that had this job were lost');
  await finish(hands, id, order, 'failed', errorBody(failure));
}

/** Here a job of another database would seem to have been removed. @throws DelayedError once it is back in the queue */
async function leaveForeign(
  { logger, stop, store }: Hands,
  job: Job,
  { installation }: Order,
  token: string | undefined,
): Promise<void> {
  if (installation === (await store.installation())) return;
  const msg =
    'Expected the database of the service for `UNDERTONE_DATABASE_URL`, got another: job left in the queue';
  logger.error({ job_id: job.id }, msg);
  await sleep(emptyMs, null, { signal: stop }).catch(() => {});
  await job.moveToDelayed(Date.now() + leftMs, token);
  throw new DelayedError();
}

async function takeJob(hands: Hands, job: Job<SealedOrder>, token: string | undefined): Promise<void> {
  const { logger, store, vault, waiting } = hands;
  const id = job.id as string;
  const order = openOrder(job.data, id, vault);
  await leaveForeign(hands, job, order, token);
  const row = await store.read(id);
  if (row === null) {
    logger.info({ job_id: id }, 'job removed');
    return waiting.drop(id);
  }
  if (row.outcome !== null) return finish(hands, id, order, row.outcome, row.body ?? '');
  const started = performance.now();
  try {
    const json = await analyze(hands, job, order);
    await finish(hands, id, order, 'done', json);
    logger.info({ job_id: id, ms: Math.round(performance.now() - started) }, 'job done');
  } catch (error) {
    if (hands.stop.aborted) {
      await job.moveToWait(token);
      throw new WaitingError();
    }
    if (!(error instanceof Failure) || error.code === 'storage_unavailable') throw error;
    await finish(hands, id, order, 'failed', errorBody(error));
    logger.info({ job_id: id, code: error.code }, 'job failed');
  }
}

/** @throws Failure for what another attempt would not change */
async function analyze(hands: Hands, job: Job<SealedOrder>, order: Order): Promise<string> {
  const { crew, stop, store } = hands;
  const id = job.id as string;
  const recording = await load(hands, job, order);
  const cancel = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const raise = () => void Atomics.store(cancel, 0, 1);
  stop.addEventListener('abort', raise);
  try {
    if (stop.aborted) raise();
    const task = { id, ...recording, channel: order.channel, cancel };
    const reply = await crew.analyze(task, (progress) => {
      void job.updateProgress(progress).catch(() => {});
      void stopIfRemoved(store, id, cancel);
    });
    if (reply.kind === 'report') return reply.json;
    if (reply.kind === 'fault') throw new Error(reply.cause);
    throw toFailure(reply.failure);
  } finally {
    stop.removeEventListener('abort', raise);
  }
}

async function stopIfRemoved(store: JobStore, id: string, cancel: Int32Array): Promise<void> {
  const removed = await store.read(id).then(
    (row) => row === null,
    () => false,
  );
  if (removed) Atomics.store(cancel, 0, 1);
}

type Recording = { readonly audio: Uint8Array; readonly baseline: Uint8Array | null };

async function load({ config, stop, waiting }: Hands, job: Job, { source }: Order): Promise<Recording> {
  if (source.kind === 'object') return { audio: await fetch(config, job, source.url, stop), baseline: null };
  const { sizes } = source;
  const id = job.id as string;
  const audio = await waiting.read(id, 'audio', sizes.audio);
  const baseline = sizes.baseline > 0 ? await waiting.read(id, 'baseline', sizes.baseline) : null;
  if (audio !== null && (sizes.baseline === 0 || baseline !== null)) return { audio, baseline };
  throw new Failure('deadline', 'The recording waited longer for a worker than it may');
}

async function fetch({ jobs }: Config, job: Job, url: string, stop: AbortSignal): Promise<Uint8Array> {
  try {
    return await fetchObject(url, jobs, stop);
  } catch (error) {
    const last = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    throw last && error instanceof UnreachableError ? unreachable(error.message) : error;
  }
}

/** Whoever ends a job drops what waited for it and calls back: once, however often this is done. */
async function finish(
  { config, queues, store, vault, waiting }: Hands,
  id: string,
  order: Order,
  outcome: 'done' | 'failed',
  body: string,
): Promise<void> {
  await store.finish(id, outcome, body, Date.now() + 1000 * config.jobs.resultSeconds);
  await waiting.drop(id);
  if (order.callback === null) return;
  await queues.callbacks.add('callback', sealOrder(order, id, vault), { jobId: id });
}

async function callBack(hands: Hands, job: Job<SealedOrder>, token: string | undefined): Promise<void> {
  const { config, store, vault, logger } = hands;
  const id = job.id as string;
  const order = openOrder(job.data, id, vault);
  const { callback, holder } = order;
  await leaveForeign(hands, job, order, token);
  const row = await store.read(id);
  if (row === null || row.outcome === null || callback === null) return;
  const heard = await deliver({
    id,
    url: callback,
    body: JSON.stringify(viewOf(row, null)),
    secret: vault.callbackSecret(holder),
    privateHosts: config.jobs.privateHosts,
    now: Date.now(),
  });
  logger.info({ job_id: id, heard }, 'called back');
}
