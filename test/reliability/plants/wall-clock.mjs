/** Durations are taken from a clock that can be set. */
performance.now = () => Date.now();
