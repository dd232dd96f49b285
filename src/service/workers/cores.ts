/** Cores that a task may use. */
import { availableParallelism } from 'node:os';

const allCores = availableParallelism();

/** Threads of the trunk while cores are idle: with more than four each gains little. */
export function threadsPerTask(cores = allCores): number {
  return Math.min(cores, 4);
}

/** Whether each of the running tasks can have `threadsPerTask` cores. */
export function areCoresIdle(runningTasks: number, cores = allCores): boolean {
  return runningTasks * threadsPerTask(cores) <= cores;
}
