/// <reference lib="es2024.sharedmemory" />
/** Turns of the tasks of a thread, in memory that it shares with the supervisor: a task pauses between two units of work. */

export type Turn = Int32Array;

/** The task pauses after its unit of work. */
const pausing = 0;
const running = 1;
const paused = 2;

export function createTurn(): Turn {
  const turn = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  turn[0] = running;
  return turn;
}

/** Requests or withdraws a pause. Without effect on a paused task. */
export function requestPause(turn: Turn, wanted: boolean): void {
  if (wanted) Atomics.compareExchange(turn, 0, running, pausing);
  else Atomics.compareExchange(turn, 0, pausing, running);
}

export function resume(turn: Turn): void {
  Atomics.store(turn, 0, running);
  Atomics.notify(turn, 0);
}

/** Pauses the task when that was requested. Returns whether it was. @param onPause called before the pause */
export async function passTurn(turn: Turn, onPause: () => void): Promise<boolean> {
  if (Atomics.compareExchange(turn, 0, pausing, paused) !== pausing) return false;
  onPause();
  await Atomics.waitAsync(turn, 0, paused).value;
  return true;
}
