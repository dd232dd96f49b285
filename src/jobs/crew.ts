/** The analysis threads of `undertone work`. */
import { threadFile } from '../threads.ts';
import { openCrews } from '../workers/crews.ts';
import type { ThreadSettings } from '../workers/messages.ts';
import type { JobNote, JobReply, JobTask } from './task.ts';
import type { JobProgress } from './view.ts';

export type Crew = {
  /** Rejects when the thread was lost. The bytes are given away. */
  analyze(task: JobTask, onProgress: (progress: JobProgress) => void): Promise<JobReply>;
  close(): Promise<void>;
};

export type CrewOptions = {
  readonly threads: number;
  readonly settings: ThreadSettings;
  readonly file?: string;
  /** Hears why a thread was lost; it is replaced. */
  readonly onLost: (cause: Error) => void;
};

/** An hour of a recording leaves 6 MB of figures and timelines. */
const heapMebibytes = 1024;

/** Resolves when every thread has its models. */
export async function openCrew({ file = threadFile('jobs/task'), ...options }: CrewOptions): Promise<Crew> {
  const listeners = new Map<string, (progress: JobProgress) => void>();
  const onNote = ({ id, progress }: JobNote) => listeners.get(id)?.(progress);
  const crews = openCrews<JobTask, JobReply, JobNote>({ ...options, file, heapMebibytes, onNote });
  await crews.started;
  return {
    async analyze(task, onProgress) {
      listeners.set(task.id, onProgress);
      try {
        return await crews.ask(task, [task.audio, ...(task.baseline === null ? [] : [task.baseline])]);
      } finally {
        listeners.delete(task.id);
      }
    },
    close: crews.close,
  };
}
