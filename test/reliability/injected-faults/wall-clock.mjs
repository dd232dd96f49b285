/** Durations come from the wall clock. */
performance.now = () => Date.now();
