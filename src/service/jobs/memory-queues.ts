/** Queues of jobs in the memory of the service, which works on them itself. A restart loses what waits. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createFairQueue } from '../fair-share.ts';
import type { JobProgress } from './job-json.ts';
import {
  type Attempts,
  analysisAttempts,
  callbackAttempts,
  computeTurnDelayMs,
  type JobQueue,
  type NewEntry,
  PutBack,
  type QueueJob,
  type Queues,
  UnprocessableError,
  type WorkOptions,
} from './queues.ts';

export function createMemoryQueues(): Queues {
  const registered = { worker: 0, service: 0 };
  const opened = performance.now();
  return {
    analyses: createMemoryQueue(analysisAttempts),
    long: createMemoryQueue(analysisAttempts),
    callbacks: createMemoryQueue(callbackAttempts),
    register: (kind) => {
      registered[kind]++;
      return async () => void registered[kind]--;
    },
    countWorkers: async (kind) => registered[kind],
    openedAt: () => Date.now() - (performance.now() - opened),
    close: async () => {},
  };
}

type Entry = NewEntry & {
  state: 'waiting' | 'delayed' | 'running';
  progress: JobProgress | null;
  failedAttempts: number;
  /** How often it returned to the queue. */
  returns: number;
};

/** Owners take turns. */
function createMemoryQueue({ attempts, firstDelayMs }: Attempts): JobQueue {
  const entries = new Map<string, Entry>();
  /** Entries that do not run, by owner. */
  const waitingOf = createCounts();
  const waiting = createFairQueue<Entry>(Number.POSITIVE_INFINITY);
  /** Precede `waiting`. */
  const first = createFairQueue<Entry>(Number.POSITIVE_INFINITY);
  const delays = new AbortController();
  let worker: { readonly options: WorkOptions; concurrency: number; closed: boolean } | null = null;
  let running = 0;
  let onIdle = () => {};

  function start(): void {
    while (worker !== null && !worker.closed && running < worker.concurrency) {
      const entry = first.next() ?? waiting.next();
      if (entry === null) return;
      running++;
      void run(entry, worker.options).finally(() => {
        if (--running === 0) onIdle();
        start();
      });
    }
  }

  async function run(entry: Entry, { process, onFailed }: WorkOptions): Promise<void> {
    entry.state = 'running';
    waitingOf.add(entry.owner, -1);
    try {
      await process(jobOf(entry, attempts));
      entries.delete(entry.id);
    } catch (error) {
      if (error instanceof PutBack) return putBack(entry, error.place);
      entry.failedAttempts++;
      const isOver = error instanceof UnprocessableError || entry.failedAttempts >= attempts;
      if (isOver) entries.delete(entry.id);
      else void delay(entry, firstDelayMs * 2 ** (entry.failedAttempts - 1)).catch(() => {});
      onFailed(jobOf(entry, attempts), error as Error, isOver);
    }
  }

  function putBack(entry: Entry, place: PutBack['place']): void {
    if (place !== 'first') {
      const ms = 'delayMs' in place ? place.delayMs : computeTurnDelayMs(entry.returns++);
      return void delay(entry, ms).catch(() => {});
    }
    entry.state = 'waiting';
    waitingOf.add(entry.owner, 1);
    first.add(entry.owner, entry);
  }

  async function delay(entry: Entry, ms: number): Promise<void> {
    entry.state = 'delayed';
    waitingOf.add(entry.owner, 1);
    await sleep(ms, null, { signal: delays.signal });
    if (entries.get(entry.id) === entry) enqueue(entry);
  }

  function enqueue(entry: Entry): void {
    entry.state = 'waiting';
    waiting.add(entry.owner, entry);
    start();
  }

  return {
    async add(added) {
      if (entries.has(added.id)) return;
      const entry: Entry = { ...added, state: 'waiting', progress: null, failedAttempts: 0, returns: 0 };
      entries.set(entry.id, entry);
      waitingOf.add(entry.owner, 1);
      enqueue(entry);
    },
    async find(id) {
      const entry = entries.get(id);
      return entry === undefined
        ? null
        : { ...entry, status: entry.state === 'running' ? 'running' : 'waiting' };
    },
    async remove(id) {
      const entry = entries.get(id);
      if (entry?.state === 'running') return false;
      if (entry === undefined) return true;
      for (const queue of [first, waiting]) queue.remove(entry.owner, entry);
      waitingOf.add(entry.owner, -1);
      entries.delete(id);
      return true;
    },
    countWaiting: async (owner) => waitingOf.get(owner),
    async count() {
      const oldest = firstOf(entries.values(), ({ state }) => state !== 'running');
      return { waiting: waitingOf.total(), running, oldestAt: oldest?.createdAt ?? null };
    },
    work(options) {
      const opened = { options, concurrency: options.concurrency, closed: false };
      worker = opened;
      start();
      return {
        resize(concurrency) {
          opened.concurrency = concurrency;
          start();
        },
        async close() {
          opened.closed = true;
          delays.abort();
          if (running > 0) await new Promise<void>((resolve) => (onIdle = resolve));
        },
      };
    },
  };
}

function createCounts() {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    get: (name: string) => counts.get(name) ?? 0,
    total: () => total,
    add(name: string, by: number): void {
      total += by;
      const count = (counts.get(name) ?? 0) + by;
      if (count > 0) counts.set(name, count);
      else counts.delete(name);
    },
  };
}

function firstOf<Item>(items: Iterable<Item>, isWanted: (item: Item) => boolean): Item | null {
  for (const item of items) if (isWanted(item)) return item;
  return null;
}

function jobOf(entry: Entry, attempts: number): QueueJob {
  const { id, payload, createdAt, failedAttempts } = entry;
  return {
    id,
    payload,
    createdAt,
    failedAttempts,
    isLastAttempt: failedAttempts + 1 >= attempts,
    reportProgress: (progress) => {
      entry.progress = progress;
    },
  };
}
