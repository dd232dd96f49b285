/** A memory limit for several processes; the kernel kills one that exceeds it. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export type ControlGroup = {
  readonly folder: string;
  /** Peak usage; null where the kernel does not report it. */
  peakMebibytes(): number | null;
  remove(): Promise<void>;
};

const mebibyte = 2 ** 20;
/** Either version of the kernel's interface. */
const versions = [
  {
    mount: '/sys/fs/cgroup/memory',
    mark: 'memory.limit_in_bytes',
    limit: 'memory.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
  },
  { mount: '/sys/fs/cgroup', mark: 'cgroup.controllers', limit: 'memory.max', peak: 'memory.peak' },
];

export function limitMemory(mebibytes: number): ControlGroup {
  const version = versions.find(({ mount, mark }) => existsSync(`${mount}/${mark}`));
  if (version === undefined) throw new TypeError('Expected control groups in /sys/fs/cgroup, got none');
  const folder = `${version.mount}/undertone-${process.pid}-${Math.round(performance.now())}`;
  mkdirSync(folder);
  writeFileSync(`${folder}/${version.limit}`, String(mebibytes * mebibyte));
  return {
    folder,
    peakMebibytes: () => {
      const path = `${folder}/${version.peak}`;
      return existsSync(path) ? Number(readFileSync(path, 'utf8')) / mebibyte : null;
    },
    remove: async () => {
      for (let tries = 0; tries < 100 && existsSync(folder); tries++) {
        try {
          rmdirSync(folder);
        } catch {
          // Killed processes leave the group with a delay.
          await sleep(50);
        }
      }
    },
  };
}
