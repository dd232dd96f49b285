/** Analysis threads of this process. A crash in native code takes the process with it. */
import { threadFile } from '../runtime/worker-entries.ts';
import type { Reply, Task, TaskMessage } from './protocol.ts';
import { openCrews } from './thread-pool.ts';
import type { Run, Workers, WorkersOptions } from './workers.ts';

const heapMebibytes = 512;

export function createThreads({ workers, file, settings, onLost }: WorkersOptions): Workers {
  const { ask, ...crews } = openCrews<TaskMessage, Reply>({
    threads: workers,
    file: file ?? threadFile('workers/analysis-thread'),
    settings,
    heapMebibytes,
    ...(onLost && { onLost }),
  });
  function run(task: Task): Run {
    const flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    return {
      reply: ask({ ...task, cancel: flag }, task.body),
      stop: (reason) => void Atomics.store(flag, 0, reason),
    };
  }
  return { ...crews, run };
}
