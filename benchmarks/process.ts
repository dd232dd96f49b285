/** What a process takes up, as Linux counts it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { processorMs, residentMebibytes, statusField } from '../src/tools/process-usage.ts';

export { processorMs, residentMebibytes };

/** The most resident memory since the start, or since `forgetPeak`. */
export const peakMebibytes = (pid: number): number => statusField(pid, 'VmHWM') / 1024;

/** proc(5): 5 resets the peak to what is resident now. */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');

export const threadsOf = (pid: number): number => statusField(pid, 'Threads');

export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

/** Memory of a process and its children; pages that several share are counted once. */
export function proportionalMebibytes(pid: number): number {
  const kilobytes = [pid, ...childrenOf(pid)].map((id) => {
    const text = readFileSync(`/proc/${id}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1]);
  });
  return kilobytes.reduce((sum, more) => sum + more, 0) / 1024;
}

/** Milliseconds of one thread: on a processor, and ready to run while others had the processors (proc(5), schedstat). */
function schedulerMs(pid: number, thread: number | string, field: 0 | 1): number {
  return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[field]) / 1e6;
}

function sumOfThreads(pid: number, field: 0 | 1): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + schedulerMs(pid, thread, field), 0);
}

/** Processor time so far of the threads that live. */
export const livingThreadsMs = (pid: number): number => sumOfThreads(pid, 0);

/** How long the threads that live have been ready to run while others had the processors. */
export const runQueueMs = (pid: number): number => sumOfThreads(pid, 1);

/** Processor time so far of the thread that runs the event loop. */
export const mainThreadMs = (pid: number): number => schedulerMs(pid, pid, 0);
