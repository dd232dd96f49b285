/** What the queues know of jobs: where one waits, whether a worker has it, and how many there are. */
import type { Job } from 'bullmq';
import { isProgress, type QueueState } from './job-json.ts';
import type { EncryptedPayload } from './payload.ts';
import type { JobQueue, Queues } from './queues.ts';

export type QueuedJob = { readonly job: Job<EncryptedPayload>; readonly queue: JobQueue };

export type JobStats = {
  readonly waiting: number;
  readonly running: number;
  /** Seconds that the next job in the queue has waited. */
  readonly oldest: number;
};

/** Null when no queue has it. A job that goes on to the queue of long ones is in both for a moment. */
export async function findQueued({ long, analyses }: Queues, id: string): Promise<QueuedJob | null> {
  for (const queue of [long, analyses]) {
    const job = await queue.queue.getJob(id);
    if (job !== undefined) return { job, queue };
  }
  return null;
}

/** Null when no queue has it. */
export async function queueStateOf(queues: Queues, id: string): Promise<QueueState | null> {
  const found = await findQueued(queues, id);
  if (found === null) return null;
  const state = await found.job.getState();
  if (state === 'unknown' || state === 'completed' || state === 'failed') return null;
  const progress = isProgress(found.job.progress) ? found.job.progress : null;
  return { status: state === 'active' ? 'running' : 'waiting', progress };
}

/** Jobs of everybody that wait for a worker. */
export async function countWaiting({ analyses, long }: Queues): Promise<number> {
  const counts = await Promise.all([analyses, long].map(({ queue }) => queue.getJobCountByTypes(...waiting)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Those of one owner. */
export async function countWaitingOf({ analyses, long }: Queues, owner: string): Promise<number> {
  const counts = await Promise.all([analyses, long].map((queue) => queue.countWaiting(owner)));
  return counts.reduce((sum, count) => sum + count, 0);
}

export async function readStats(queues: Queues): Promise<JobStats> {
  const { analyses, long } = queues;
  const [count, running, [first]] = await Promise.all([
    countWaiting(queues),
    Promise.all([analyses, long].map(({ queue }) => queue.getActiveCount())),
    analyses.queue.getJobs(['waiting', 'prioritized'], 0, 0, true),
  ]);
  return {
    waiting: count,
    running: running.reduce((sum, one) => sum + one, 0),
    oldest: first === undefined ? 0 : Math.max(0, Date.now() - first.timestamp) / 1000,
  };
}

/** Jobs of releases without turns are `waiting`. */
const waiting = ['waiting', 'prioritized', 'delayed'] as const;
