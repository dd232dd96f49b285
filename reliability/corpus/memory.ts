/** Memory and descriptors of a running process, as Linux tells them. */
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';

const mebibyte = 1024;

function statusField(pid: number, field: string): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / mebibyte;
}

/** Resident memory, MiB. */
export const residentMebibytes = (pid: number): number => statusField(pid, 'VmRSS');

/** The most resident memory since `forgetPeak`, MiB. */
export const peakMebibytes = (pid: number): number => statusField(pid, 'VmHWM');

/** proc(5): 5 resets the peak to what is resident now. */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');

/** What each descriptor of a process leads to. */
export function descriptors(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      return []; // closed meanwhile
    }
  });
}
