/** Splits work of the main thread, so that the event loop serves other requests in between. */
import { setImmediate as nextIteration } from 'node:timers/promises';

/** Each call of the returned function resolves in a separate iteration of the event loop, in the order of the calls. */
export function createTurns(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => nextIteration());
    return last;
  };
}
