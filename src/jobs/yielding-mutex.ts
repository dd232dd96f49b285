/** A first-in, first-out mutex for the analyses of a thread. A long analysis yields between its chunks. */
import { setTimeout as sleep } from 'node:timers/promises';

export type YieldingMutex = {
  /** Runs `work` once earlier work has ended or yielded. */
  runExclusive<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Called inside `work`: lets other work run for as long as this work has run, or until there is none. */
  yieldToOthers(): Promise<void>;
};

/** The next task arrives some time after the previous reply. */
const arrivalMs = 50;

export function createYieldingMutex(): YieldingMutex {
  const queue: (() => void)[] = [];
  let running = false;
  let startedAt = 0;
  let acquisitions = 0;

  async function acquire(): Promise<void> {
    if (running) await new Promise<void>((resolve) => queue.push(resolve));
    running = true;
    acquisitions++;
    startedAt = performance.now();
  }

  /** Passes the mutex directly to the next in the queue. */
  function release(): void {
    const next = queue.shift();
    if (next === undefined) running = false;
    else next();
  }

  return {
    async runExclusive(work) {
      await acquire();
      try {
        return await work();
      } finally {
        release();
      }
    },
    async yieldToOthers() {
      const until = 2 * performance.now() - startedAt;
      release();
      for (let seen = -1; (running || seen !== acquisitions) && performance.now() < until; ) {
        seen = acquisitions;
        await sleep(arrivalMs);
      }
      await acquire();
    },
  };
}
