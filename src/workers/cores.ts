/** Cores that a task may use. */
import { availableParallelism } from 'node:os';

/** Threads of the trunk while cores are idle: with more than four each gains little. */
export function threadsPerTask(cores = availableParallelism()): number {
  return Math.min(cores, 4);
}

/** Whether each of the running tasks can have `threadsPerTask` cores. */
export function areCoresIdle(runningTasks: number, cores = availableParallelism()): boolean {
  return runningTasks * threadsPerTask(cores) <= cores;
}
