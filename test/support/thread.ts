/** A thread that does what its task's body says: for what the real one does only when something is broken. */
import { existsSync, writeFileSync } from 'node:fs';
import { parentPort, threadId, workerData } from 'node:worker_threads';
import type { HeapPressure, Reply, TaskMessage, ThreadReady } from '../../src/service/workers/protocol.ts';

export type ThreadTask =
  | { readonly do: 'echo' }
  /** Holds the thread until the flag is raised or the time is over. */
  | { readonly do: 'work'; readonly ms: number }
  /** Holds the thread until the file exists or the flag is raised. */
  | { readonly do: 'hold'; readonly file: string }
  /** Short units of work until the file exists or the flag is raised. */
  | { readonly do: 'units'; readonly file: string }
  /** Says that its heap is too full. */
  | { readonly do: 'fill' }
  | { readonly do: 'exit' }
  /** Ends the thread, unless the file exists, which it creates. */
  | { readonly do: 'exitOnce'; readonly file: string }
  | { readonly do: 'throw' }
  /** Rejects, which the handler of the real one never does. */
  | { readonly do: 'reject' }
  | { readonly do: 'exhaust' }
  | { readonly do: 'fault' }
  | { readonly do: 'refuse' };

const encoder = new TextEncoder();
type Settings = {
  /** Id of the last thread that started, and how many did. */
  readonly starts?: Int32Array;
  /** The thread that cannot start, counted from 1. */
  readonly failing?: number;
  readonly trace?: string;
  /** The thread loads until element 0 is not 0. */
  readonly loaded?: Int32Array;
};
const settings = workerData as Settings;

export const run = start();

async function start(): Promise<typeof obey> {
  if (countStarts(settings.starts) === settings.failing) throw new Error('no models');
  if (settings.loaded !== undefined) Atomics.wait(settings.loaded, 0, 0);
  parentPort?.postMessage({ ready: threadId } satisfies ThreadReady);
  return obey;
}

/** piscina requires the file, and imports it where that fails: a thread can start twice. */
function countStarts(starts: Int32Array = new Int32Array(2)): number {
  const isNew = Atomics.exchange(starts, 0, threadId) !== threadId;
  return isNew ? Atomics.add(starts, 1, 1) + 1 : Atomics.load(starts, 1);
}

async function obey({ id, pauseFlag, cancel, ...task }: TaskMessage): Promise<Reply> {
  const requestId = 'live' in task ? 'live' : task.requestId;
  const body = 'live' in task ? [task.live.bytes] : 'body' in task ? task.body : [];
  const order: ThreadTask = JSON.parse(Buffer.concat(body).toString());
  if (settings.trace !== undefined)
    writeFileSync(settings.trace, `${requestId} ${order.do}\n`, { flag: 'a' });
  if (order.do === 'fill') parentPort?.postMessage({ heapPressure: threadId } satisfies HeapPressure);
  if (order.do === 'exit') process.exit(3);
  if (order.do === 'exitOnce' && !existsSync(order.file)) {
    writeFileSync(order.file, '');
    process.exit(3);
  }
  if (order.do === 'throw') await crash();
  if (order.do === 'reject') throw new TypeError('not a function');
  if (order.do === 'exhaust') exhaust();
  if (order.do === 'fault') return { kind: 'internalError', cause: 'Error: a secret cause' };
  if (order.do === 'refuse') {
    const problems = [{ where: 'body', field: 'audio', reason: 'audio.malformed', message: 'no' }] as const;
    return { kind: 'failure', failure: { code: 'invalid', message: 'no', problems, retryAfterSeconds: 1 } };
  }
  if (order.do === 'work') work(cancel, order.ms);
  if (order.do === 'hold') hold(cancel, order.file);
  if (order.do === 'units') await doUnits({ id, pauseFlag, cancel }, order.file);
  const flag = Atomics.load(cancel, 0);
  const json = encoder.encode(JSON.stringify({ request_id: requestId, flag, thread: threadId }));
  return { kind: 'report', json, stages: [{ name: 'work', ms: 1 }], audioSeconds: 1.5 };
}

/** Looks at the flag now and then, as an analysis does between its stages. */
function work(cancel: Int32Array, ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until && Atomics.load(cancel, 0) === 0) Atomics.wait(cancel, 0, 0, 5);
}

async function doUnits(
  { id, pauseFlag, cancel }: Pick<TaskMessage, 'id' | 'pauseFlag' | 'cancel'>,
  file: string,
): Promise<void> {
  // On first use: protocol.ts loads the engine, which takes ten times as long as the thread.
  const { pauseIfRequested } = await import('../../src/service/workers/pause-flag.ts');
  const { reportPaused } = await import('../../src/service/workers/protocol.ts');
  while (!existsSync(file) && Atomics.load(cancel, 0) === 0) {
    Atomics.wait(cancel, 0, 0, 5);
    await pauseIfRequested(pauseFlag, () => reportPaused(id));
  }
}

function hold(cancel: Int32Array, file: string): void {
  while (!existsSync(file) && Atomics.load(cancel, 0) === 0) Atomics.wait(cancel, 0, 0, 5);
}

/** An error that no handler of the task sees. */
async function crash(): Promise<never> {
  setImmediate(() => {
    throw new Error('crashed');
  });
  return new Promise(() => {});
}

function exhaust(): never {
  const hoard: number[][] = [];
  for (;;) hoard.push(new Array(100_000).fill(hoard.length));
}
