/** What JavaScript cannot reach of the process, in a separate addon: audio needs none of it. */
import { loadNative, platformPackage } from './native.ts';
import { builtProcessAddon } from './paths.ts';

type ProcessAddon = {
  setEnvironmentVariable(name: string, value: string): void;
  releaseFreeMemory(): void;
  lockFile(descriptor: number, exclusive: boolean): boolean;
};

const addon = loadNative<ProcessAddon>('the process addon of undertone', [
  builtProcessAddon,
  `${platformPackage}/undertone_process`,
]);

/** Sets a variable that native libraries read: in a worker thread `process.env` is a copy that they do not see. */
export const setEnvironmentVariable = addon.setEnvironmentVariable;

/**
 * Returns whether it acquired the lock (flock), without waiting. The system releases it with the descriptor, at the latest
 * at the end of the process. @throws Error where the file system has no locks
 */
export const lockFile = addon.lockFile;

/** Gives free memory of the C heap, of all threads, back to the system. */
export const releaseFreeMemory = addon.releaseFreeMemory;
