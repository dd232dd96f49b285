/** Status of a thread or process, for its pool. */
import { getHeapStatistics } from 'node:v8';
import { parentPort, threadId } from 'node:worker_threads';
import type { HeapPressure, ThreadReady } from './protocol.ts';

/** Part of the heap limit. A single analysis stays far below it. */
const maxHeapRatio = 0.6;

export function reportReady(): void {
  parentPort?.postMessage({ ready: threadId } satisfies ThreadReady);
}

/** Whether the thread or process has to be replaced: a full heap during inference aborts the process. */
export function isHeapFull(): boolean {
  const { used_heap_size, heap_size_limit } = getHeapStatistics();
  return used_heap_size > maxHeapRatio * heap_size_limit;
}

export function reportHeapPressure(): void {
  if (!isHeapFull()) return;
  parentPort?.postMessage({ heapPressure: threadId } satisfies HeapPressure);
}
