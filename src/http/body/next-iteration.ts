/** Splits work of the main thread, so that the event loop serves other requests in between. */
import { setImmediate } from 'node:timers/promises';

let last: Promise<void> = Promise.resolve();

/** Each call resolves in a separate iteration of the event loop, in the order of the calls. */
export function nextIteration(): Promise<void> {
  last = last.then(() => setImmediate());
  return last;
}
