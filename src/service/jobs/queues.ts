/** BullMQ queues with fair priorities. */
import { DelayedError, type Job, Queue } from 'bullmq';
import type { ExternalUse } from '../fair-share.ts';
import type { Redis } from '../redis.ts';
import { isProgress, type QueueState } from './job-store.ts';
import type { Cipher, EncryptedPayload } from './payload.ts';

const prefix = 'undertone';

type NewEntry = {
  readonly id: string;
  readonly owner: string;
  readonly payload: EncryptedPayload;
  /** ms since 1970 */
  readonly createdAt: number;
};

export type QueueJob = Job<EncryptedPayload>;
export type JobQueue = ReturnType<typeof toJobQueue>;

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
  priorities: ReturnType<typeof createFairPriority>,
  { pseudonym }: Cipher,
) {
  return {
    name: queue.name,
    queue,
    /** Has no effect when the queue has the job. */
    async add({ id, owner, payload, createdAt }: NewEntry): Promise<void> {
      const priority = await priorities.next(pseudonym(owner));
      await queue.add('job', payload, { jobId: id, priority, timestamp: createdAt });
    },
    /** Called first when a worker starts a job. */
    async markStarted(job: QueueJob): Promise<void> {
      const shift = await priorities.advance(job.priority);
      if (shift > 0) void rebase(queue, shift).catch(() => {});
    },
    /** Puts a started job back with a new priority and exponential backoff. */
    async delay(job: QueueJob, owner: string, token: string | undefined): Promise<never> {
      await job.changePriority({ priority: await priorities.next(pseudonym(owner)) });
      return moveToDelayed(job, delayMs(job), token);
    },
    /** Returns false when a worker runs the job. */
    async remove(job: QueueJob, owner: string): Promise<boolean> {
      try {
        await job.remove();
      } catch (error) {
        if (error instanceof Error && /locked/.test(error.message)) return false;
        throw error;
      }
      await priorities.remove(pseudonym(owner));
      return true;
    },
    countWaiting: (owner: string) => priorities.countWaiting(pseudonym(owner)),
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

// State of jobs in the queues, and totals.

type QueuedJob = { readonly job: QueueJob; readonly queue: JobQueue };

export type JobStats = {
  readonly waiting: number;
  readonly running: number;
  /** Age of the next job in the queue, in seconds. */
  readonly oldest: number;
};

/** Searches `long` first: a job that moves there is in both queues for a moment. */
export async function findQueued({ long, analyses }: Queues, id: string): Promise<QueuedJob | null> {
  for (const queue of [long, analyses]) {
    const job = await queue.queue.getJob(id);
    if (job !== undefined) return { job, queue };
  }
  return null;
}

export async function queueStateOf(queues: Queues, id: string): Promise<QueueState | null> {
  const found = await findQueued(queues, id);
  if (found === null) return null;
  const state = await found.job.getState();
  if (state === 'unknown' || state === 'completed' || state === 'failed') return null;
  const progress = isProgress(found.job.progress) ? found.job.progress : null;
  return { status: state === 'active' ? 'running' : 'waiting', progress };
}

/** Counts the jobs that wait for a worker. */
export async function countWaiting(queues: Queues, owner: string): Promise<ExternalUse> {
  const [all, own] = await Promise.all([
    countJobs(queues, waitingStates),
    sumOf([queues.analyses, queues.long].map((queue) => queue.countWaiting(owner))),
  ]);
  return { all, own };
}

export async function readStats(queues: Queues): Promise<JobStats> {
  const [waiting, running, [first]] = await Promise.all([
    countJobs(queues, waitingStates),
    countJobs(queues, ['active']),
    queues.analyses.queue.getJobs(['waiting', 'prioritized'], 0, 0, true),
  ]);
  const oldest = first === undefined ? 0 : Math.max(0, Date.now() - first.timestamp) / 1000;
  return { waiting, running, oldest };
}

/** Jobs of lost workers are `waiting`: BullMQ puts them before all others. */
const waitingStates = ['waiting', 'prioritized', 'delayed'] as const;

function countJobs(
  { analyses, long }: Queues,
  states: readonly ('active' | (typeof waitingStates)[number])[],
): Promise<number> {
  return sumOf([analyses, long].map(({ queue }) => queue.getJobCountByTypes(...states)));
}

async function sumOf(counts: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

// BullMQ priorities by start-time fair queueing (Goyal, Vin and Cheng 1996). The priority of a job is its start tag: one
// more than the last tag of its owner or than the tag of the job in service, whichever is larger. Owners with many jobs
// alternate, and the first job of another owner does not wait behind them.

/** BullMQ's largest priority. */
export const maxPriority = 2 ** 21 - 1;
/** Priorities are rebased above this tag, so half of the range is left for waiting jobs. */
const rebaseAt = 2 ** 20;

const served = `local served = tonumber(redis.call('GET', KEYS[2]) or '0')`;

const scripts = {
  next: `${served}
    redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', served)
    local last = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or served)
    redis.call('ZADD', KEYS[1], last + 1, ARGV[1])
    return last + 1`,
  advance: `${served}
    served = math.max(served, tonumber(ARGV[1]))
    local shift = served < ${rebaseAt} and 0 or served
    if shift > 0 then
      for _, owner in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
        redis.call('ZINCRBY', KEYS[1], -shift, owner)
      end
    end
    redis.call('SET', KEYS[2], served - shift)
    return shift`,
  remove: `${served}
    local last = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or served)
    if last > served then redis.call('ZADD', KEYS[1], last - 1, ARGV[1]) end
    return 0`,
  countWaiting: `${served}
    return math.max(0, tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or served) - served)`,
} as const;

/** @param name of the queue */
export function createFairPriority(redis: Redis, name: string) {
  const keys = [`undertone:turns:${name}`, `undertone:served:${name}`] as const;
  const run = async (script: keyof typeof scripts, argument: string | number) =>
    Number(await redis.eval(scripts[script], keys.length, ...keys, argument));
  return {
    /** Assigns the priority of the owner's next job. */
    next: async (owner: string) => Math.min(maxPriority, await run('next', owner)),
    /**
     * Called when a worker starts a job. Returns the amount to subtract from the priorities of waiting jobs, which is
     * positive only when priorities approach the maximum.
     */
    advance: (priority: number) => run('advance', priority),
    /** Called when a waiting job of the owner is removed. */
    remove: async (owner: string) => void (await run('remove', owner)),
    /** Counts waiting jobs of the owner. Removed jobs may count until their tag is served. */
    countWaiting: (owner: string) => run('countWaiting', owner),
  };
}
