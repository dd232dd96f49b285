/** Analysis threads of this process. A crash in native code takes the process with it. */
import { Piscina } from 'piscina';
import { threadFile } from '../threads.ts';
import type { Reply, Task, TaskMessage, ThreadHeavy, ThreadReady } from './messages.ts';
import { deferred, type Run, reviveAfterMs, type Workers, type WorkersOptions } from './workers.ts';

/** As many threads as there are workers, and how many tasks they have. */
type Crew = { readonly piscina: Piscina; readonly warm: Set<number>; running: number };

const heapMebibytes = 512;

export function createThreads(options: WorkersOptions): Workers {
  const { promise: started, resolve, reject } = deferred<void>();
  let lost = 0;
  let closed = false;
  let startedUp = false;
  let next: Crew | null = null;
  let crew = open();

  function open(): Crew {
    const piscina = new Piscina({
      filename: options.file ?? threadFile('workers/task'),
      name: 'run',
      minThreads: options.workers,
      maxThreads: options.workers,
      workerData: options.settings,
      resourceLimits: { maxOldGenerationSizeMb: heapMebibytes },
      recordTiming: false,
    });
    const opened: Crew = { piscina, warm: new Set(), running: 0 };
    piscina.on('message', (message: ThreadReady | ThreadHeavy) => {
      if ('heavy' in message) renew(opened);
      else begin(opened, message.ready);
    });
    piscina.on('error', (cause: Error) => failed(opened, cause));
    return opened;
  }

  function begin(opened: Crew, thread: number): void {
    opened.warm.add(thread);
    if (opened.warm.size < options.workers) return;
    startedUp = true;
    resolve();
    if (opened !== next) return;
    const old = crew;
    crew = opened;
    next = null;
    dismiss(old);
  }

  /** A thread that fails while it loads is not replaced by piscina: another crew is opened. */
  function failed(opened: Crew, cause: Error): void {
    if (closed || (opened !== crew && opened !== next)) return;
    if (!startedUp) {
      closed = true;
      reject(cause);
      void opened.piscina.destroy();
      return;
    }
    countLost(cause);
    if (opened === next) {
      next = null;
      void opened.piscina.destroy();
    }
    setTimeout(() => {
      if (opened !== crew || crew.piscina.threads.length < options.workers) renew(crew);
    }, reviveAfterMs).unref();
  }

  /** The old crew works until the new one can. */
  function renew(old: Crew): void {
    if (!closed && old === crew) next ??= open();
  }

  /** A thread that is ended in the middle of inference aborts the process: piscina's own closing does not wait for all. */
  function dismiss(old: Crew): void {
    const idle = old.running === 0 || old.piscina.threads.length === 0;
    if (old !== crew && idle) void old.piscina.destroy();
  }

  function countLost(cause: Error): void {
    lost++;
    options.onLost?.(cause);
  }

  async function ask(message: TaskMessage): Promise<Reply> {
    const transferList = message.body.map(({ buffer }) => buffer as ArrayBuffer);
    const asked = crew;
    asked.running++;
    try {
      return await asked.piscina.run(message, { transferList });
    } catch (cause) {
      countLost(cause as Error);
      throw cause;
    } finally {
      asked.running--;
      dismiss(asked);
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
    warm: () => !closed && crew.piscina.threads.some(({ threadId }) => crew.warm.has(threadId)),
    lost: () => lost,
    run,
    close: async () => {
      closed = true;
      const crews = [crew, next].filter((one) => one !== null);
      await Promise.all(crews.filter(({ running }) => running === 0).map(({ piscina }) => piscina.destroy()));
    },
  };
}
