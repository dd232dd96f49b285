/** A pool of threads on piscina. A generation that lost a thread or holds too much heap is replaced once its successor is ready. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { Piscina } from 'piscina';
import { deferred } from '../deferred.ts';
import type { HeapPressure, ThreadReady } from './protocol.ts';

type ThreadPoolOptions<Note> = {
  readonly threads: number;
  /** The entry file of a thread: exports `run`, posts a ThreadReady, then HeapPressure and notes as they occur. */
  readonly file: string;
  /** Sent to each thread as its `workerData`. */
  readonly settings: object;
  readonly heapMebibytes?: number;
  readonly stackMebibytes?: number;
  /** Concurrent tasks per thread; 1 by default. */
  readonly tasksPerThread?: number;
  /** A thread that cannot start is replaced, as one that dies. By default `started` rejects. */
  readonly retriesStart?: boolean;
  onNote?(note: Note): void;
  /** Called when a thread becomes ready. */
  onReady?(): void;
  onLost?(cause: Error): void;
};

export type ThreadPool<Message, Reply> = {
  /** Resolves when every thread is ready. Rejects, and closes the pool, when one cannot start. */
  readonly started: Promise<void>;
  /** Counts the threads that are ready. */
  ready(): number;
  /** Threads that died so far. */
  lost(): number;
  /** Transfers the buffers of `transferList`. @throws ThreadLostError when the thread dies, and the error of the task as it is */
  run(message: Message, transferList: readonly Uint8Array[]): Promise<Reply>;
  /** Waits for threads that load. Those with running tasks are not terminated. */
  close(): Promise<void>;
};

type Generation = {
  readonly piscina: Piscina;
  readonly ready: Set<number>;
  running: number;
  /** Threads that ended. */
  ended: number;
};

/** The thread of a task ended; the `cause` says why. */
export class ThreadLostError extends Error {}

/** Delay after a start that failed. */
const respawnDelayMs = 500;
const loadPollMs = 10;
/** Longer than any load. */
const maxLoadMs = 10_000;
/** Tasks keep their large data outside of the heap: the default of 48 MB fills before it is collected. */
const maxYoungGenerationSizeMb = 3;
/**
 * Each thread collects its own garbage: helper threads of V8 would take the cores of other threads. A full collection starts
 * when a heap has grown by half: by default it may grow to four times its size, most of it garbage after a burst of requests.
 * V8 reads these flags at each collection, so that they can change in a process that runs.
 */
const collectorFlags = [
  '--heap-growing-percent=50',
  '--no-parallel-scavenge',
  '--no-concurrent-sweeping',
  '--no-concurrent-array-buffer-sweeping',
];

function createPiscina<Note>(options: ThreadPoolOptions<Note>): Piscina {
  for (const flag of collectorFlags) setFlagsFromString(flag);
  return new Piscina({
    filename: options.file,
    name: 'run',
    minThreads: options.threads,
    maxThreads: options.threads,
    concurrentTasksPerWorker: options.tasksPerThread ?? 1,
    workerData: options.settings,
    resourceLimits: {
      maxYoungGenerationSizeMb,
      ...(options.heapMebibytes && { maxOldGenerationSizeMb: options.heapMebibytes }),
      ...(options.stackMebibytes && { stackSizeMb: options.stackMebibytes }),
    },
    recordTiming: false,
  });
}

export function createThreadPool<Message, Reply, Note extends object = never>(
  options: ThreadPoolOptions<Note>,
): ThreadPool<Message, Reply> {
  const { promise: started, resolve, reject } = deferred<void>();
  const startErrors: Error[] = [];
  let lost = 0;
  let closed = false;
  let startedUp = options.retriesStart ?? false;
  let next: Generation | null = null;
  let current = open();

  function open(): Generation {
    const piscina = createPiscina(options);
    const generation: Generation = { piscina, ready: new Set(), running: 0, ended: 0 };
    piscina.on('workerDestroy', () => {
      generation.ended++;
    });
    piscina.on('message', (message: ThreadReady | HeapPressure | Note) => {
      if ('heapPressure' in message) replace(generation);
      else if ('ready' in message) onReady(generation, message.ready as number);
      else options.onNote?.(message as Note);
    });
    piscina.on('error', (cause: Error) => onError(generation, cause));
    return generation;
  }

  function ready(): number {
    if (closed) return 0;
    return current.piscina.threads.filter(({ threadId }) => current.ready.has(threadId)).length;
  }

  function onReady(generation: Generation, threadId: number): void {
    generation.ready.add(threadId);
    if (!startedUp) finishStart();
    else if (generation === next && generation.ready.size >= options.threads) {
      const old = current;
      current = generation;
      next = null;
      retire(old);
    }
    if (generation === current && startedUp) resolve();
    options.onReady?.();
  }

  /** Waits for every thread, since terminating one inside the model runtime aborts the process. */
  function finishStart(): void {
    const [error] = startErrors;
    if (closed || current.ready.size + startErrors.length < options.threads) return;
    startedUp = error === undefined;
    if (error !== undefined) {
      closed = true;
      void current.piscina.destroy().then(() => reject(error));
    }
  }

  /** piscina does not replace a thread that fails while it loads. */
  function onError(generation: Generation, cause: Error): void {
    if (closed || (generation !== current && generation !== next)) return;
    if (!startedUp) {
      startErrors.push(cause);
      finishStart();
      return;
    }
    countLost(cause);
    if (generation === next) {
      next = null;
      void generation.piscina.destroy();
    }
    setTimeout(() => {
      if (generation !== current || current.piscina.threads.length < options.threads) replace(current);
    }, respawnDelayMs).unref();
  }

  function replace(old: Generation): void {
    if (!closed && startedUp && old === current) next ??= open();
  }

  /** Destroys a replaced generation once it is idle: terminating a thread during inference aborts the process. */
  function retire(old: Generation): void {
    const idle = old.running === 0 || old.piscina.threads.length === 0;
    if (old !== current && idle) void old.piscina.destroy();
  }

  function countLost(cause: Error): void {
    lost++;
    options.onLost?.(cause);
  }

  async function run(message: Message, transferList: readonly Uint8Array[]): Promise<Reply> {
    const buffers = transferList.map(({ buffer }) => buffer as ArrayBuffer);
    const generation = current;
    const { ended } = generation;
    generation.running++;
    try {
      return await generation.piscina.run(message, { transferList: buffers });
    } catch (cause) {
      // An error of the task or of its message ends no thread.
      if (generation.ended === ended) throw cause;
      countLost(cause as Error);
      throw new ThreadLostError((cause as Error).message, { cause });
    } finally {
      generation.running--;
      retire(generation);
    }
  }

  return {
    started,
    ready,
    lost: () => lost,
    run,
    close: async () => {
      closed = true;
      await destroyIdle([current, next].filter((one) => one !== null));
    },
  };
}

/** Waits for threads that load: terminating one inside the model runtime aborts the process. */
async function destroyIdle(generations: readonly Generation[]): Promise<void> {
  const isLoading = ({ piscina, ready }: Generation) =>
    piscina.threads.some(({ threadId }) => !ready.has(threadId));
  const deadline = performance.now() + maxLoadMs;
  while (generations.some(isLoading) && performance.now() < deadline) await sleep(loadPollMs);
  const idle = generations.filter(({ running }) => running === 0);
  await Promise.all(idle.map(({ piscina }) => piscina.destroy()));
}
