/** Settings of the whole process that JavaScript cannot reach, in an addon of their own: audio needs none of them. */
import { loadNative, platformPackage } from './native.ts';
import { builtProcessAddon } from './paths.ts';

type ProcessAddon = {
  setEnvironmentVariable(name: string, value: string): void;
  releaseFreeMemory(): void;
};

const addon = loadNative<ProcessAddon>('the process addon of undertone', [
  builtProcessAddon,
  `${platformPackage}/undertone_process`,
]);

/** Sets a variable that native libraries read: in a worker thread `process.env` is a copy that they do not see. */
export const setEnvironmentVariable = addon.setEnvironmentVariable;

/** Gives free memory of the C heap, of all threads, back to the system. */
export const releaseFreeMemory = addon.releaseFreeMemory;
