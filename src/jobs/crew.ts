/** The analysis threads of `undertone work`. */
import { Piscina } from 'piscina';
import { threadFile } from '../threads.ts';
import type { ThreadReady, ThreadSettings } from '../workers/messages.ts';
import type { JobNote, JobReply, JobTask } from './task.ts';
import type { JobProgress } from './view.ts';

export type Crew = {
  /** Rejects when the thread was lost. The bytes are given away. */
  analyze(task: JobTask, onProgress: (progress: JobProgress) => void): Promise<JobReply>;
  close(): Promise<void>;
};

/** An hour of a recording leaves 6 MB of figures and timelines. */
const heapMebibytes = 1024;

/** Resolves when every thread has its models. */
export async function openCrew(threads: number, settings: ThreadSettings): Promise<Crew> {
  const listeners = new Map<string, (progress: JobProgress) => void>();
  const piscina = new Piscina({
    filename: threadFile('jobs/task'),
    name: 'run',
    minThreads: threads,
    maxThreads: threads,
    workerData: settings,
    resourceLimits: { maxOldGenerationSizeMb: heapMebibytes },
    recordTiming: false,
  });
  await new Promise<void>((resolve, reject) => {
    let ready = 0;
    piscina.on('message', (message: ThreadReady | JobNote) => {
      if ('id' in message) listeners.get(message.id)?.(message.progress);
      else if (++ready === threads) resolve();
    });
    // Later on the task that a lost thread had tells of it.
    piscina.on('error', reject);
  });
  return {
    async analyze(task, onProgress) {
      listeners.set(task.id, onProgress);
      const given = [task.audio, ...(task.baseline === null ? [] : [task.baseline])];
      try {
        return await piscina.run(task, { transferList: given.map(({ buffer }) => buffer as ArrayBuffer) });
      } finally {
        listeners.delete(task.id);
      }
    },
    close: () => piscina.close(),
  };
}
