/** What a thread says of itself to those who opened it. */
import { getHeapStatistics } from 'node:v8';
import { parentPort, resourceLimits, threadId } from 'node:worker_threads';
import type { HeapPressure, ThreadReady } from './protocol.ts';

/** Share of the heap's limit; an analysis alone leaves it far below. */
const maxHeapRatio = 0.6;

export function reportReady(): void {
  parentPort?.postMessage({ ready: threadId } satisfies ThreadReady);
}

/** A heap that is found full inside the model runtime aborts the process: the thread is given up before. */
export function reportHeapPressure(): void {
  const limit = 2 ** 20 * (resourceLimits.maxOldGenerationSizeMb ?? Number.POSITIVE_INFINITY);
  if (getHeapStatistics().used_heap_size <= maxHeapRatio * limit) return;
  parentPort?.postMessage({ heapPressure: threadId } satisfies HeapPressure);
}
