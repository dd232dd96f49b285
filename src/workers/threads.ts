/** Analysis threads of this process. A crash in native code ends the process. */
import { entryFile } from '../runtime/worker-entries.ts';
import type { Reply, Task, TaskMessage } from './protocol.ts';
import { createThreadPool } from './thread-pool.ts';
import type { Run, Workers, WorkersOptions } from './workers.ts';

const heapMebibytes = 512;

export function createThreads({ workers, file, ...options }: WorkersOptions): Workers {
  const pool = createThreadPool<TaskMessage, Reply>({
    threads: workers,
    file: file ?? entryFile('workers/analysis-thread'),
    heapMebibytes,
    ...options,
  });
  function run(task: Task, hasIdleCores: boolean): Run {
    const flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    return {
      reply: pool.run({ ...task, cancel: flag, hasIdleCores }, task.body),
      stop: () => void Atomics.store(flag, 0, 1),
    };
  }
  return { ...pool, run };
}
