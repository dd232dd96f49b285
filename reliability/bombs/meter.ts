/** What a process takes, as Linux counts it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Milliseconds on a processor, all threads that live. */
export function cpuMs(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = tasks.map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}

function kilobytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
}

export const residentMb = (pid: number): number => kilobytes(pid, 'VmRSS') / 1024;
/** Since the start, or the last forgetPeak. */
export const peakMb = (pid: number): number => kilobytes(pid, 'VmHWM') / 1024;
/** Linux, proc(5): 5 resets the peak. */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');
