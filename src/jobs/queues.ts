/** BullMQ queues with fair priorities. */
import { DelayedError, type Job, Queue } from 'bullmq';
import type { Redis } from '../runtime/redis.ts';
import type { Cipher } from './encryption.ts';
import { createFairPriority, type FairPriority } from './fair-priority.ts';
import type { EncryptedPayload } from './payload.ts';

const prefix = 'undertone';

type NewEntry = {
  readonly id: string;
  readonly owner: string;
  readonly payload: EncryptedPayload;
  /** ms since 1970 */
  readonly createdAt: number;
};

export type JobQueue = {
  readonly name: string;
  readonly queue: Queue<EncryptedPayload>;
  /** Has no effect when the queue has the job. */
  add(entry: NewEntry): Promise<void>;
  /** Called first when a worker starts a job. */
  markStarted(job: Job<EncryptedPayload>): Promise<void>;
  /** Puts a started job back with a new priority and exponential backoff. */
  delay(job: Job<EncryptedPayload>, owner: string, token: string | undefined): Promise<never>;
  /** Returns false when a worker runs the job. */
  remove(job: Job<EncryptedPayload>, owner: string): Promise<boolean>;
  countWaiting(owner: string): Promise<number>;
};

/** Jobs start in `analyses`; those with long recordings move to `long`. */
export type Queues = {
  readonly analyses: JobQueue;
  readonly long: JobQueue;
  readonly callbacks: JobQueue;
  close(): Promise<void>;
};

/** The last attempt starts after 4 minutes for analyses and after 70 minutes for callbacks. */
const analysis = { attempts: 8, backoff: { type: 'exponential', delay: 2000 } } as const;
const callback = { attempts: 13, backoff: { type: 'exponential', delay: 1000 } } as const;
const minDelayMs = 250;
const maxDelayMs = 120_000;
/** Redis keeps no finished job, and of a failed attempt no stack trace: it may name hosts. */
const forget = { removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0 } as const;

/** The fingerprint separates processes with different secrets, which cannot decrypt each other's jobs. */
export function openQueues(redis: Redis, cipher: Cipher): Queues {
  const open = (kind: string, options: typeof analysis | typeof callback) => {
    const name = `${kind}-${cipher.fingerprint}`;
    const queue = new Queue<EncryptedPayload>(name, {
      ...connectionOptions(redis),
      defaultJobOptions: { ...options, ...forget },
    });
    // Each call reports its own error.
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

function toJobQueue(
  queue: Queue<EncryptedPayload>,
  priorities: FairPriority,
  { pseudonym }: Cipher,
): JobQueue {
  return {
    name: queue.name,
    queue,
    async add({ id, owner, payload, createdAt }) {
      const priority = await priorities.next(pseudonym(owner));
      await queue.add('job', payload, { jobId: id, priority, timestamp: createdAt });
    },
    async markStarted(job) {
      const shift = await priorities.advance(job.priority);
      if (shift > 0) void rebase(queue, shift).catch(() => {});
    },
    async delay(job, owner, token) {
      await job.changePriority({ priority: await priorities.next(pseudonym(owner)) });
      return moveToDelayed(job, delayMs(job), token);
    },
    async remove(job, owner) {
      try {
        await job.remove();
      } catch (error) {
        if (error instanceof Error && /locked/.test(error.message)) return false;
        throw error;
      }
      await priorities.remove(pseudonym(owner));
      return true;
    },
    countWaiting: (owner) => priorities.countWaiting(pseudonym(owner)),
  };
}

/** @throws DelayedError, as BullMQ requires */
export async function moveToDelayed(job: Job, delayMs: number, token: string | undefined): Promise<never> {
  await job.moveToDelayed(Date.now() + delayMs, token);
  throw new DelayedError();
}

/** Attempts that were started and not made are the returns to the queue. */
function delayMs({ attemptsStarted, attemptsMade }: Job): number {
  const times = Math.max(0, attemptsStarted - attemptsMade - 1);
  return Math.min(maxDelayMs, minDelayMs * 2 ** times);
}

/** Subtracts `shift` from the priorities of waiting jobs, once in a million jobs. */
async function rebase(queue: Queue<EncryptedPayload>, shift: number): Promise<void> {
  for (const job of await queue.getJobs(['prioritized', 'delayed'], 0, -1, true)) {
    await job.changePriority({ priority: Math.max(1, job.priority - shift) }).catch(() => {});
  }
}

export function connectionOptions(redis: Redis) {
  return { connection: redis, prefix } as const;
}
