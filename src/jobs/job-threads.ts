/** The analysis threads of `undertone work`. */
import { threadFile } from '../runtime/worker-entries.ts';
import type { ThreadSettings } from '../workers/protocol.ts';
import { type Crews, openCrews } from '../workers/thread-pool.ts';
import type { JobProgress } from './job-json.ts';
import { type JobNote, type JobReply, type JobTask, type Lane, lanes } from './job-task.ts';

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

/** A thread, and the lanes in which it has a task. */
type Place = { readonly crews: Crews<JobTask, JobReply>; readonly busy: Set<Lane> };

/** A thread has up to one task of each lane at a time. Resolves when every thread has its models. */
export async function openCrew({
  file = threadFile('jobs/job-thread'),
  ...options
}: CrewOptions): Promise<Crew> {
  const listeners = new Map<string, (progress: JobProgress) => void>();
  const onNote = ({ id, progress }: JobNote) => listeners.get(id)?.(progress);
  const shared = { ...options, file, heapMebibytes, onNote, threads: 1, tasksPerThread: lanes.length };
  const places = Array.from({ length: options.threads }, (): Place => {
    return { crews: openCrews<JobTask, JobReply, JobNote>(shared), busy: new Set() };
  });
  const close = async () => {
    await Promise.all(places.map(({ crews }) => crews.close()));
  };
  await Promise.all(places.map(({ crews }) => crews.started)).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    async analyze(task, onProgress) {
      const place = choose(places, task.lane);
      place.busy.add(task.lane);
      listeners.set(task.id, onProgress);
      try {
        const given = [task.audio, ...(task.baseline === null ? [] : [task.baseline])];
        return await place.crews.ask(task, given);
      } finally {
        place.busy.delete(task.lane);
        listeners.delete(task.id);
      }
    },
    close,
  };
}

/** The thread with the fewest tasks of those without one of the lane. */
function choose(places: readonly Place[], lane: Lane): Place {
  const free = places.filter(({ busy }) => !busy.has(lane)).sort((a, b) => a.busy.size - b.busy.size);
  const place = free[0];
  if (place === undefined) throw new Error(`Expected at most ${places.length} tasks of a lane, got more`);
  return place;
}
