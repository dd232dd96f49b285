/** State of jobs in the queues, and totals. */
import type { Job } from 'bullmq';
import type { ExternalUse } from '../runtime/fair-budget.ts';
import { isProgress, type QueueState } from './job-json.ts';
import type { EncryptedPayload } from './payload.ts';
import type { JobQueue, Queues } from './queues.ts';

type QueuedJob = { readonly job: Job<EncryptedPayload>; readonly queue: JobQueue };

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
