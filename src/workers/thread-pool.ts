/** Crews of analysis threads: where one lost a thread for good, or is heavy, the next is opened and then takes its place. */
import { Piscina } from 'piscina';
import type { ThreadHeavy, ThreadReady, ThreadSettings } from './protocol.ts';
import { deferred, reviveAfterMs } from './workers.ts';

export type CrewsOptions<Note> = {
  readonly threads: number;
  /** What each thread runs: it exports `run`, and posts a ThreadReady, perhaps a ThreadHeavy, and its notes. */
  readonly file: string;
  readonly settings: ThreadSettings;
  readonly heapMebibytes: number;
  /** Tasks that a thread may have at once; 1 when left out. */
  readonly tasksPerThread?: number;
  onNote?(note: Note): void;
  /** Hears why a thread was lost. */
  onLost?(cause: Error): void;
};

export type Crews<Message, Reply> = {
  /** Resolves when every thread has its models; rejects when one cannot start, and nothing is retried. */
  readonly started: Promise<void>;
  /** Whether any can take a task. */
  warm(): boolean;
  /** How many threads died; each is replaced. */
  lost(): number;
  /** Rejects when the thread died. The buffers of `given` are given away. */
  ask(message: Message, given: readonly Uint8Array[]): Promise<Reply>;
  /** Threads in mid-run are left alone. */
  close(): Promise<void>;
};

/** As many threads as were asked for, and how many tasks they have. */
type Crew = { readonly piscina: Piscina; readonly warm: Set<number>; running: number };

export function openCrews<Message, Reply, Note extends object = never>(
  options: CrewsOptions<Note>,
): Crews<Message, Reply> {
  const { promise: started, resolve, reject } = deferred<void>();
  let lost = 0;
  let closed = false;
  let startedUp = false;
  let next: Crew | null = null;
  let crew = open();

  function open(): Crew {
    const piscina = new Piscina({
      filename: options.file,
      name: 'run',
      minThreads: options.threads,
      maxThreads: options.threads,
      concurrentTasksPerWorker: options.tasksPerThread ?? 1,
      workerData: options.settings,
      resourceLimits: { maxOldGenerationSizeMb: options.heapMebibytes },
      recordTiming: false,
    });
    const opened: Crew = { piscina, warm: new Set(), running: 0 };
    piscina.on('message', (message: ThreadReady | ThreadHeavy | Note) => {
      if ('heavy' in message) renew(opened);
      else if ('ready' in message) begin(opened, message.ready);
      else options.onNote?.(message);
    });
    piscina.on('error', (cause: Error) => failed(opened, cause));
    return opened;
  }

  function begin(opened: Crew, thread: number): void {
    opened.warm.add(thread);
    if (opened.warm.size < options.threads) return;
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
      if (opened !== crew || crew.piscina.threads.length < options.threads) renew(crew);
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

  async function ask(message: Message, given: readonly Uint8Array[]): Promise<Reply> {
    const transferList = given.map(({ buffer }) => buffer as ArrayBuffer);
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

  return {
    started,
    warm: () => !closed && crew.piscina.threads.some(({ threadId }) => crew.warm.has(threadId)),
    lost: () => lost,
    ask,
    close: async () => {
      closed = true;
      const crews = [crew, next].filter((one) => one !== null);
      await Promise.all(crews.filter(({ running }) => running === 0).map(({ piscina }) => piscina.destroy()));
    },
  };
}
