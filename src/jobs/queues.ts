/** The queues, kept by BullMQ, in which owners take turns. */
import { type Job, Queue } from 'bullmq';
import type { Redis } from '../runtime/redis.ts';
import type { Cipher } from './encryption.ts';
import { createFairPriority, type FairPriority } from './fair-priority.ts';
import type { EncryptedPayload } from './payload.ts';

const prefix = 'undertone';

export type NewEntry = {
  readonly id: string;
  readonly owner: string;
  readonly payload: EncryptedPayload;
  /** When the job was made, ms since 1970. */
  readonly createdAt: number;
};

export type JobQueue = {
  readonly name: string;
  readonly queue: Queue<EncryptedPayload>;
  /** Does nothing where the queue has the job already. */
  add(entry: NewEntry): Promise<void>;
  /** Called as soon as a worker begins a job, so that later jobs of other owners come after it. */
  markStarted(job: Job<EncryptedPayload>): Promise<void>;
  /** Delays a job that a worker has begun, twice as long each time. Jobs of other owners that come meanwhile are before it. */
  delay(job: Job<EncryptedPayload>, owner: string, token: string | undefined): Promise<void>;
  /** False when a worker has the job: only that worker can end it. */
  remove(job: Job<EncryptedPayload>, owner: string): Promise<boolean>;
  /** Jobs of the owner that wait. */
  countWaiting(owner: string): Promise<number>;
};

/** Recordings of any length wait in `analyses`; one that is found to be long goes on to `long`. */
export type Queues = {
  readonly analyses: JobQueue;
  readonly long: JobQueue;
  readonly callbacks: JobQueue;
  close(): Promise<void>;
};

/** Doubling from there: the last of the analyses comes after 4 minutes, the last callback after 70. */
const analysis = { attempts: 8, backoff: { type: 'exponential', delay: 2000 } } as const;
const callback = { attempts: 13, backoff: { type: 'exponential', delay: 1000 } } as const;
const firstPauseMs = 250;
const longestPauseMs = 120_000;
const forget = { removeOnComplete: true, removeOnFail: true } as const;

/** Processes with another secret could not open what waits: they have queues of their own. */
export function openQueues(redis: Redis, cipher: Cipher): Queues {
  const open = (kind: string, options: typeof analysis | typeof callback) => {
    const name = `${kind}-${cipher.fingerprint}`;
    const queue = new Queue<EncryptedPayload>(name, {
      ...connectionOptions(redis),
      defaultJobOptions: { ...options, ...forget },
    });
    // Each call says for itself that it failed.
    queue.on('error', () => {});
    return toJobQueue(queue, createFairPriority(redis, name), cipher);
  };
  const analyses = open('analyses', analysis);
  const long = open('long', analysis);
  const callbacks = open('callbacks', callback);
  return {
    analyses,
    long,
    callbacks,
    close: async () => {
      await Promise.all([analyses, long, callbacks].map(({ queue }) => queue.close()));
    },
  };
}

function toJobQueue(queue: Queue<EncryptedPayload>, order: FairPriority, { pseudonym }: Cipher): JobQueue {
  return {
    name: queue.name,
    queue,
    async add({ id, owner, payload, createdAt }) {
      const priority = await order.next(pseudonym(owner));
      await queue.add('job', payload, { jobId: id, priority, timestamp: createdAt });
    },
    async markStarted(job) {
      const shift = await order.advance(job.priority);
      if (shift > 0) void rebase(queue, shift).catch(() => {});
    },
    async delay(job, owner, token) {
      await job.changePriority({ priority: await order.next(pseudonym(owner)) });
      await job.moveToDelayed(Date.now() + pauseMs(job), token);
    },
    async remove(job, owner) {
      try {
        await job.remove();
      } catch (error) {
        if (error instanceof Error && /locked/.test(error.message)) return false;
        throw error;
      }
      await order.remove(pseudonym(owner));
      return true;
    },
    countWaiting: (owner) => order.countWaiting(pseudonym(owner)),
  };
}

/** Attempts that were started and not made were put back. */
function pauseMs({ attemptsStarted, attemptsMade }: Job): number {
  const times = Math.max(0, attemptsStarted - attemptsMade - 1);
  return Math.min(longestPauseMs, firstPauseMs * 2 ** times);
}

/** Once in a million jobs: those that wait keep their order. */
async function rebase(queue: Queue<EncryptedPayload>, shift: number): Promise<void> {
  for (const job of await queue.getJobs(['prioritized', 'delayed'], 0, -1, true)) {
    await job.changePriority({ priority: Math.max(1, job.priority - shift) }).catch(() => {});
  }
}

/** What queues and workers share. */
export function connectionOptions(redis: Redis) {
  return { connection: redis, prefix } as const;
}
