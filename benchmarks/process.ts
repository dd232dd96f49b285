/** What a process takes up, as Linux counts it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

function statusField(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
}

/** Resident memory. */
export const residentMebibytes = (pid: number): number => statusField(pid, 'VmRSS') / 1024;

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

/** Processor time so far, of threads that ended too; Linux counts it in ticks of 10 ms. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Processor time so far of one thread, to the nanosecond. */
function threadMs(pid: number, thread: number | string): number {
  return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** Processor time so far of the threads that live. */
export function livingThreadsMs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadMs(pid, thread), 0);
}

/** The same of the thread that runs the event loop. */
export const mainThreadMs = (pid: number): number => threadMs(pid, pid);
