/** What a process takes up, as Linux counts it. */
import { readFileSync } from 'node:fs';

/** @param name of a field of /proc/PID/status that is a number */
export function statusField(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
}

/** Resident memory. */
export const residentMebibytes = (pid: number): number => statusField(pid, 'VmRSS') / 1024;

/** Processor time so far, of threads that ended too; Linux counts it in ticks of 10 ms. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}
