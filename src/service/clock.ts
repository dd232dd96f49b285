/** The wall clock of the host, which may be set while the service runs, against the monotonic one. */

/** Clocks of hosts differ by less. */
const maxStepMs = 60_000;
/** A clock that was set ahead counts after this time, or when the service starts. */
const distrustMs = 3_600_000;

/**
 * Returns the time at which data is deleted: the wall clock, and for an hour after it was set ahead the time without that
 * step, since what a wrong clock deletes is gone.
 */
export function createDeletionClock(
  now: () => number = Date.now,
  monotonic: () => number = () => performance.now(),
): () => number {
  let trusted = { time: now(), at: monotonic() };
  return () => {
    const [time, at] = [now(), monotonic()];
    const passed = at - trusted.at;
    const isAhead = time - trusted.time - passed > maxStepMs;
    if (isAhead && passed < distrustMs) return trusted.time + passed;
    trusted = { time, at };
    return time;
  };
}
