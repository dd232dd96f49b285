/** Divides work of the main thread: between two turns the event loop reads from sockets and answers other requests. */
import { setImmediate as nextIteration } from 'node:timers/promises';

/** Returns a function that resolves in an iteration of the event loop of its own, first come, first served. */
export function createTurns(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => nextIteration());
    return last;
  };
}
