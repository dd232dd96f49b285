/** Status messages of a thread to its pool. */
import { getHeapStatistics } from 'node:v8';
import { parentPort, resourceLimits, threadId } from 'node:worker_threads';
import type { HeapPressure, ThreadReady } from './protocol.ts';

/** Part of the heap limit. A single analysis stays far below it. */
const maxHeapRatio = 0.6;

export function reportReady(): void {
  parentPort?.postMessage({ ready: threadId } satisfies ThreadReady);
}

/** The pool replaces the thread in time: a full heap during inference aborts the process. */
export function reportHeapPressure(): void {
  const limit = 2 ** 20 * (resourceLimits.maxOldGenerationSizeMb ?? Number.POSITIVE_INFINITY);
  if (getHeapStatistics().used_heap_size <= maxHeapRatio * limit) return;
  parentPort?.postMessage({ heapPressure: threadId } satisfies HeapPressure);
}
