/** How long the rest of some work takes, at its speed so far. */

/** No estimate before. */
const minSeconds = 2;

/**
 * @param now ms
 * @returns what gives the seconds of the rest of `done`, 0 to 1, from its first call on; null without an estimate
 */
export function createTimeLeft(now: () => number = () => performance.now()): (done: number) => number | null {
  let first: { readonly at: number; readonly done: number } | null = null;
  return (done) => {
    first ??= { at: now(), done };
    const seconds = (now() - first.at) / 1000;
    const progress = done - first.done;
    return seconds < minSeconds || progress <= 0 ? null : ((1 - done) * seconds) / progress;
  };
}
