/** State of jobs in the queues, and totals. */

import type { ExternalUse } from '../fair-share.ts';
import type { QueueState, WaitReason } from './job-json.ts';
import type { JobQueue, Queues } from './queues.ts';

export type JobStats = {
  readonly waiting: number;
  readonly running: number;
  /** Age of the next job in the queue, in seconds. */
  readonly oldest: number;
  /** Processes that take jobs. */
  readonly workers: number;
  /** Callbacks that wait, also for a further attempt. */
  readonly callbacks: number;
  /** Bytes of recordings and payloads of waiting jobs. */
  readonly heldBytes: number;
};

/** Searches `analyses` first: a job that moves to `long` is added there before it leaves `analyses`. */
export async function findQueued(
  { long, analyses }: Queues,
  id: string,
): Promise<{
  readonly entry: NonNullable<Awaited<ReturnType<JobQueue['find']>>>;
  readonly queue: JobQueue;
} | null> {
  for (const queue of [analyses, long]) {
    const entry = await queue.find(id);
    if (entry !== null) return { entry, queue };
  }
  return null;
}

export async function queueStateOf(queues: Queues, id: string): Promise<QueueState | null> {
  const found = await findQueued(queues, id);
  if (found === null) return null;
  const { status, progress } = found.entry;
  return { status, progress, reason: status === 'waiting' ? await readWaitReason(queues) : null };
}

/** Why a job waits, when no process takes jobs. */
export async function readWaitReason(queues: Queues): Promise<WaitReason | null> {
  return (await countProcesses(queues)) === 0 ? 'no_worker' : null;
}

/** Counts the jobs that wait for a worker, and those whose callback waits. */
export async function countWaiting(
  { analyses, long, callbacks }: Queues,
  owner: string,
): Promise<ExternalUse> {
  const queues = [analyses, long, callbacks];
  const [all, ofKey] = await Promise.all([
    sumOf(queues.map(async (queue) => (await queue.count()).waiting)),
    sumOf(queues.map((queue) => queue.countWaiting(owner))),
  ]);
  return { all, ofKey };
}

export async function readStats(queues: Queues, heldBytes: number): Promise<JobStats> {
  const [analyses, long, callbacks, workers] = await Promise.all([
    queues.analyses.count(),
    queues.long.count(),
    queues.callbacks.count(),
    countProcesses(queues),
  ]);
  const { oldestAt } = analyses;
  return {
    waiting: analyses.waiting + long.waiting,
    running: analyses.running + long.running,
    oldest: oldestAt === null ? 0 : Math.max(0, Date.now() - oldestAt) / 1000,
    workers,
    callbacks: callbacks.waiting,
    heldBytes,
  };
}

function countProcesses(queues: Queues): Promise<number> {
  return sumOf([queues.countWorkers('worker'), queues.countWorkers('service')]);
}

async function sumOf(counts: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
