/** The queues of jobs and callbacks in Redis: BullMQ with fair priorities. */

import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, Queue, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import { type Redis, withoutCommand } from '../redis.ts';
import type { Cipher } from './cipher.ts';
import { isProgress } from './job-json.ts';
import type { EncryptedPayload } from './payload.ts';
import {
  type Attempts,
  analysisAttempts,
  callbackAttempts,
  computeMaxDelayMs,
  computeTurnDelayMs,
  type JobQueue,
  PutBack,
  type QueueJob,
  type Queues,
  UnprocessableError,
  type WorkOptions,
} from './queues.ts';
import { createHolds, type Holds } from './redis-holds.ts';
import { createFairPriority, type FairPriority } from './redis-priorities.ts';
import { createRegistry } from './redis-registry.ts';

const prefix = 'undertone';

type BullJob = Job<EncryptedPayload>;

type RedisQueue = JobQueue & { readonly queue: Queue<EncryptedPayload> };
export type RedisQueues = Queues & Readonly<Record<'analyses' | 'long' | 'callbacks', RedisQueue>>;

/** Redis keeps no finished job, and of a failed attempt no stack trace: it may name hosts. */
const forget = { removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0 } as const;

/**
 * Priorities do not count the callbacks that wait for a further attempt: these are counted by themselves.
 * The fingerprint separates processes with different secrets, which cannot decrypt each other's jobs.
 */
export function openQueues(redis: Redis, cipher: Cipher): RedisQueues {
  const open = (kind: string, policy: Attempts, waiting: Holds | null = null) => {
    const { attempts, firstDelayMs } = policy;
    const name = `${kind}-${cipher.fingerprint}`;
    const backoff = { type: 'exponential', delay: firstDelayMs };
    const queue = new Queue<EncryptedPayload>(name, {
      ...connectionOptions(redis),
      defaultJobOptions: { attempts, backoff, ...forget },
    });
    // Each call reports its own error.
    queue.on('error', () => {});
    const maxDelayMs = computeMaxDelayMs(policy);
    return toJobQueue(
      { redis, queue, priorities: createFairPriority(redis, name), waiting, maxDelayMs },
      cipher,
    );
  };
  const analyses = open('analyses', analysisAttempts);
  const long = open('long', analysisAttempts);
  const callbacks = open('callbacks', callbackAttempts, createHolds(redis, 'callbacks', cipher.fingerprint));
  return {
    analyses,
    long,
    callbacks,
    ...createRegistry(redis, cipher),
    openedAt: () => null,
    close: async () => {
      await Promise.all([analyses, long, callbacks].map(({ queue }) => queue.close()));
    },
  };
}

/** Jobs of lost workers are `waiting`: BullMQ puts them before all others. */
const waitingStates = ['waiting', 'prioritized', 'delayed'] as const;

type QueueParts = {
  readonly redis: Redis;
  readonly queue: Queue<EncryptedPayload>;
  readonly priorities: FairPriority;
  /** Counts the jobs of each owner; null: by priority. */
  readonly waiting: Holds | null;
  readonly maxDelayMs: number;
};

function toJobQueue(parts: QueueParts, { pseudonym }: Cipher): RedisQueue {
  const { queue, priorities, waiting } = parts;
  return {
    queue,
    async add({ id, owner, payload, createdAt }) {
      try {
        await waiting?.add({ name: id, owner: pseudonym(owner), amount: 1, seconds: maxWaitSeconds });
        const priority = await priorities.next(pseudonym(owner));
        await queue.add('job', payload, { jobId: id, priority, timestamp: createdAt });
      } catch (error) {
        // Its arguments have the payload, and errors are logged.
        throw withoutCommand(error);
      }
    },
    async find(id) {
      const job = await queue.getJob(id);
      if (job === undefined) return null;
      const state = await job.getState();
      if (state === 'unknown' || state === 'completed' || state === 'failed') return null;
      const progress = isProgress(job.progress) ? job.progress : null;
      const status = state === 'active' ? 'running' : 'waiting';
      return { id, payload: job.data, createdAt: job.timestamp, status, progress };
    },
    async remove(id, owner) {
      try {
        await (await queue.getJob(id))?.remove();
      } catch (error) {
        if (error instanceof Error && /locked/.test(error.message)) return false;
        throw error;
      }
      await priorities.remove(pseudonym(owner));
      await waiting?.release(id);
      return true;
    },
    countWaiting: (owner) => (waiting?.amountOf ?? priorities.countWaiting)(pseudonym(owner)),
    async count() {
      const [waiting, running, [next]] = await Promise.all([
        queue.getJobCountByTypes(...waitingStates),
        queue.getJobCountByTypes('active'),
        queue.getJobs(['waiting', 'prioritized'], 0, 0, true),
      ]);
      return { waiting, running, oldestAt: next?.timestamp ?? null };
    },
    work: (options) => startWorker(parts, pseudonym, waiting ? releaseEnded(waiting, options) : options),
  };
}

/** What a lost process does not release. */
const maxWaitSeconds = 172_800;

/** Releases what the queue counts of a job once no attempt follows. */
function releaseEnded(waiting: Holds, { process, onFailed, ...options }: WorkOptions): WorkOptions {
  const release = (id: string) => waiting.release(id).catch(() => {});
  return {
    ...options,
    async process(job) {
      await process(job);
      await release(job.id);
    },
    onFailed(job, error, isOver) {
      if (isOver) void release(job.id);
      onFailed(job, error, isOver);
    },
  };
}

/** The loss of a worker is detected after the lock expires and at most one interval more. */
const lockMs = 15_000;
const stalledIntervalMs = 5000;
/** Time to close a worker without jobs. */
const closeMs = 2000;
/** Workers that may be lost with a job before it fails. */
const maxStalled = 3;

function startWorker(
  parts: QueueParts,
  pseudonym: Cipher['pseudonym'],
  { concurrency, process, onFailed, onReturned, onError }: WorkOptions,
) {
  const { redis, queue, priorities } = parts;
  let running = 0;
  let onIdle = () => {};

  async function run(job: BullJob, token: string | undefined): Promise<void> {
    running++;
    try {
      await work(job, token);
    } finally {
      if (--running === 0) onIdle();
    }
  }

  async function work(job: BullJob, token: string | undefined): Promise<void> {
    const shift = await priorities.advance(job.priority);
    if (shift > 0) void rebase(queue, shift).catch(() => {});
    // BullMQ renews locks by the wall clock, and none while it is set back.
    const renewal = setInterval(() => void job.extendLock(token ?? '', lockMs).catch(onError), lockMs / 3);
    try {
      await process(toQueueJob(job));
    } catch (error) {
      if (error instanceof UnprocessableError) throw new UnrecoverableError(error.message);
      if (!(error instanceof PutBack)) throw error;
      await putBack(job, error.place, token);
    } finally {
      clearInterval(renewal);
    }
  }

  /** @throws WaitingError, DelayedError, as BullMQ requires */
  async function putBack(job: BullJob, place: PutBack['place'], token: string | undefined): Promise<never> {
    if (place === 'first') {
      await job.moveToWait(token);
      throw new WaitingError();
    }
    let delayMs: number;
    if ('delayMs' in place) delayMs = place.delayMs;
    else {
      await job.changePriority({ priority: await priorities.next(pseudonym(place.turnOf)) });
      // Attempts that were started and not made are the returns to the queue.
      delayMs = computeTurnDelayMs(Math.max(0, job.attemptsStarted - job.attemptsMade - 1));
    }
    await job.moveToDelayed(Date.now() + delayMs, token);
    throw new DelayedError();
  }

  const worker = new Worker<EncryptedPayload>(queue.name, run, {
    ...connectionOptions(redis),
    lockDuration: lockMs,
    skipLockRenewal: true,
    stalledInterval: stalledIntervalMs,
    maxStalledCount: maxStalled,
    concurrency,
  });
  worker.on('error', onError);
  if (onReturned !== undefined) worker.on('stalled', onReturned);
  const delays = setInterval(() => void promoteLate(parts).catch(onError), delaysCheckMs).unref();
  worker.on('failed', (job, error) => {
    const cause = withoutCommand(error) as Error;
    if (job !== undefined) onFailed(toQueueJob(job), cause, job.finishedOn !== undefined);
  });
  return {
    /** `resume` makes a fully occupied worker fetch further jobs. */
    resize(size: number): void {
      const more = size > worker.concurrency;
      worker.concurrency = size;
      if (more && worker.closing === undefined) void worker.pause(true).then(() => worker.resume());
    },
    /** An unreachable Redis replies to no QUIT, which BullMQ waits for. */
    async close(): Promise<void> {
      clearInterval(delays);
      const closed = worker.close().then(() => true);
      for (let isOver = false; !isOver; ) {
        if (running > 0) await Promise.race([closed, new Promise<void>((resolve) => (onIdle = resolve))]);
        isOver = (await Promise.race([closed, sleep(closeMs, false)])) || running === 0;
      }
    },
  };
}

const delaysCheckMs = 10_000;
/** BullMQ multiplies the ms since 1970 at which a delay ends by this. */
const delayFactor = 0x1000;

/** Starts delayed jobs whose delay is longer than any: the clock was set back. */
async function promoteLate({ redis, queue, maxDelayMs }: QueueParts): Promise<void> {
  const [, score] = await redis.zrange(queue.toKey('delayed'), '0', '0', 'WITHSCORES');
  if (Number(score) / delayFactor > Date.now() + maxDelayMs) await queue.promoteJobs();
}

function toQueueJob(job: BullJob): QueueJob {
  return {
    id: job.id as string,
    payload: job.data,
    createdAt: job.timestamp,
    failedAttempts: job.attemptsMade,
    isLastAttempt: job.attemptsMade + 1 >= (job.opts.attempts ?? 1),
    reportProgress: (progress) => void job.updateProgress(progress).catch(() => {}),
  };
}

/** Subtracts `shift` from the priorities of waiting jobs, once in a million jobs. */
async function rebase(queue: Queue<EncryptedPayload>, shift: number): Promise<void> {
  for (const job of await queue.getJobs(['prioritized', 'delayed'], 0, -1, true)) {
    await job.changePriority({ priority: Math.max(1, job.priority - shift) }).catch(() => {});
  }
}

function connectionOptions(redis: Redis) {
  return { connection: redis, prefix } as const;
}
