/** The analysis threads of a worker. */
import { entryFile } from '../runtime/paths.ts';
import type { ThreadSettings } from '../workers/protocol.ts';
import { createThreadPool, type ThreadPool } from '../workers/thread-pool.ts';
import type { JobProgress } from './job-json.ts';
import {
  type JobProgressMessage,
  type JobReply,
  type JobTask,
  type QueueName,
  queueNames,
} from './job-task.ts';

export type JobThreads = {
  /** Rejects when the thread is lost. Transfers the recordings. */
  analyze(task: JobTask, onProgress: (progress: JobProgress) => void): Promise<JobReply>;
  close(): Promise<void>;
};

type JobThreadsOptions = {
  readonly threads: number;
  readonly settings: ThreadSettings;
  readonly file?: string;
  /** The thread is replaced. */
  readonly onLost: (cause: Error) => void;
};

/** Measures and timelines take 6 MB per hour of audio. */
const heapMebibytes = 1024;

/** One thread and the queues of its running tasks. */
type Slot = { readonly pool: ThreadPool<JobTask, JobReply>; readonly busy: Set<QueueName> };

/** Each thread runs up to one task per queue. Resolves when every thread has loaded its models. */
export async function createJobThreads({
  file = entryFile('jobs/job-thread'),
  ...options
}: JobThreadsOptions): Promise<JobThreads> {
  const listeners = new Map<string, (progress: JobProgress) => void>();
  const onNote = ({ id, progress }: JobProgressMessage) => listeners.get(id)?.(progress);
  const shared = { ...options, file, heapMebibytes, onNote, threads: 1, tasksPerThread: queueNames.length };
  const slots = Array.from({ length: options.threads }, (): Slot => {
    return { pool: createThreadPool<JobTask, JobReply, JobProgressMessage>(shared), busy: new Set() };
  });
  const close = async () => {
    await Promise.all(slots.map(({ pool }) => pool.close()));
  };
  await Promise.all(slots.map(({ pool }) => pool.started)).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    async analyze(task, onProgress) {
      const slot = chooseSlot(slots, task.queue);
      slot.busy.add(task.queue);
      listeners.set(task.id, onProgress);
      try {
        const buffers = [task.audio, ...task.baselines];
        return await slot.pool.run(task, buffers);
      } finally {
        slot.busy.delete(task.queue);
        listeners.delete(task.id);
      }
    },
    close,
  };
}

/** Returns the least busy thread without a task of this queue. */
function chooseSlot(slots: readonly Slot[], queue: QueueName): Slot {
  const free = slots.filter(({ busy }) => !busy.has(queue)).sort((a, b) => a.busy.size - b.busy.size);
  const slot = free[0];
  if (slot === undefined) throw new Error(`Expected at most ${slots.length} tasks per queue, got more`);
  return slot;
}
