/** One analysis at a time in a thread. A long one lets others run between its chunks. */
import { setTimeout as sleep } from 'node:timers/promises';

export type YieldingMutex = {
  /** Runs `work` once those before it have ended or yielded. */
  runExclusive<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Called inside `work`: lets others run for as long as this one has run since its last turn, or until none is there. */
  yieldTurn(): Promise<void>;
};

/** The next task arrives some time after the reply to the one before. */
const arrivalMs = 50;

export function createYieldingMutex(): YieldingMutex {
  const queue: (() => void)[] = [];
  let running = false;
  let startedAt = 0;
  /** Turns that have begun. */
  let turns = 0;

  async function acquire(): Promise<void> {
    if (running) await new Promise<void>((resolve) => queue.push(resolve));
    running = true;
    turns++;
    startedAt = performance.now();
  }

  /** The next in the queue begins at once: nobody else can come before it. */
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
    async yieldTurn() {
      const until = 2 * performance.now() - startedAt;
      release();
      for (let seen = -1; (running || seen !== turns) && performance.now() < until; ) {
        seen = turns;
        await sleep(arrivalMs);
      }
      await acquire();
    },
  };
}
