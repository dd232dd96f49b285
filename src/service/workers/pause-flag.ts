/** By this flag, in shared memory, the supervisor requests that a task pauses between two units of work. */

export type PauseFlag = Int32Array;

/** The task pauses after its unit of work. */
const pausing = 0;
const running = 1;
const paused = 2;

export function createPauseFlag(): PauseFlag {
  const flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  flag[0] = running;
  return flag;
}

/** Requests or withdraws a pause. Without effect on a paused task. */
export function requestPause(flag: PauseFlag, wanted: boolean): void {
  if (wanted) Atomics.compareExchange(flag, 0, running, pausing);
  else Atomics.compareExchange(flag, 0, pausing, running);
}

export function resume(flag: PauseFlag): void {
  Atomics.store(flag, 0, running);
  Atomics.notify(flag, 0);
}

/** Pauses the task when that was requested. Returns whether it was. @param onPause called before the pause */
export async function pauseIfRequested(flag: PauseFlag, onPause: () => void): Promise<boolean> {
  if (Atomics.compareExchange(flag, 0, pausing, paused) !== pausing) return false;
  onPause();
  await Atomics.waitAsync(flag, 0, paused).value;
  return true;
}
