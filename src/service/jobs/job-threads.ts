/** The analysis threads of a worker. */

import type { AnalyzeOptions } from '../../engine/index.ts';
import type { Ignored } from '../../engine/schema.ts';
import { entryFile } from '../../node/paths.ts';
import type { Signing } from '../compose-receipt.ts';
import type { Unsigned } from '../receipts.ts';
import type { ErrorReply, ThreadSettings } from '../workers/protocol.ts';
import { createThreadPool, type ThreadPool } from '../workers/threads.ts';
import type { JobProgress } from './job-store.ts';

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
  file = entryFile('service/jobs/job-thread'),
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

// Messages between a worker and its analysis threads.

/** Queues of analyses: recordings of more than one chunk move from the first to the second. */
export const queueNames = ['analyses', 'long'] as const;
export type QueueName = (typeof queueNames)[number];

export type JobTask = AnalyzeOptions & {
  readonly id: string;
  readonly queue: QueueName;
  readonly audio: Uint8Array;
  readonly baselines: readonly Uint8Array[];
  /** Of the report. */
  readonly ignored?: Ignored | undefined;
  /** Null: no receipt. */
  readonly signing: Signing | null;
  /** Shared flag: a value other than 0 stops the analysis. */
  readonly cancel: Int32Array;
};

/** JSON bytes; `signed` is absent without a receipt. */
export type EncodedReport = Pick<Unsigned, 'json'> & Partial<Unsigned>;

/** `long`: the recording belongs into the queue `long`. */
export type JobReply =
  | ({ readonly kind: 'report'; readonly audioSeconds: number } & EncodedReport)
  | { readonly kind: 'long' }
  | ErrorReply;

/** Posted while a job is being analysed. */
export type JobProgressMessage = { readonly id: string; readonly progress: JobProgress };
