/** Analysis threads of this process. A crash in native code takes the process with it. */
import { Piscina } from 'piscina';
import { threadFile } from '../threads.ts';
import type { Reply, Task, TaskMessage, ThreadReady } from './messages.ts';
import { deferred, type Run, reviveAfterMs, type Workers, type WorkersOptions } from './workers.ts';

const heapMebibytes = 512;

export function createThreads(options: WorkersOptions): Workers {
  const { promise: started, resolve, reject } = deferred<void>();
  const warm = new Set<number>();
  let running = 0;
  let lost = 0;
  let closed = false;
  let startedUp = false;
  let piscina = open();

  function open(): Piscina {
    const opened = new Piscina({
      filename: options.file ?? threadFile('workers/task'),
      name: 'run',
      minThreads: options.workers,
      maxThreads: options.workers,
      workerData: options.settings,
      resourceLimits: { maxOldGenerationSizeMb: heapMebibytes },
      recordTiming: false,
    });
    opened.on('message', (message: ThreadReady) => {
      warm.add(message.ready);
      if (warm.size < options.workers) return;
      startedUp = true;
      resolve();
    });
    opened.on('error', (cause: Error) => failed(opened, cause));
    return opened;
  }

  /** A thread that fails while it loads is not replaced by piscina: a new set is opened in its place. */
  function failed(opened: Piscina, cause: Error): void {
    if (closed || opened !== piscina) return;
    if (!startedUp) {
      closed = true;
      reject(cause);
      void opened.destroy();
      return;
    }
    countLost(cause);
    setTimeout(() => {
      if (closed || opened !== piscina || opened.threads.length >= options.workers) return;
      piscina = open();
      void opened.close();
    }, reviveAfterMs).unref();
  }

  function countLost(cause: Error): void {
    lost++;
    options.onLost?.(cause);
  }

  async function ask(message: TaskMessage): Promise<Reply> {
    const transferList = message.body.map(({ buffer }) => buffer as ArrayBuffer);
    running++;
    try {
      return await piscina.run(message, { transferList });
    } catch (cause) {
      countLost(cause as Error);
      throw cause;
    } finally {
      running--;
    }
  }

  function run(task: Task): Run {
    const flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    return {
      reply: ask({ ...task, cancel: flag }),
      stop: (reason) => void Atomics.store(flag, 0, reason),
    };
  }

  return {
    started,
    warm: () => !closed && piscina.threads.some((thread) => warm.has(thread.threadId)),
    lost: () => lost,
    run,
    close: async () => {
      closed = true;
      // A thread that is ended in the middle of inference aborts the process.
      if (running === 0) await piscina.destroy();
    },
  };
}
