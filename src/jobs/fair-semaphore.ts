/**
 * A counting semaphore for the analysis slots of a queue, with round robin over the owners that wait. A permit can be
 * released during a slow download and is acquired again afterwards.
 */
import { createFairQueue } from '../workers/fair-queue.ts';

export type FairSemaphore = {
  /**
   * Returns null when every permit is in use and no job of this worker waits for one. The caller then returns its job to
   * the queue, where an idle worker can start it.
   */
  acquire(owner: string): Promise<Permit> | null;
};

export type Permit = {
  /** Releases the permit until `work` is fulfilled, and for good when it rejects. */
  releaseDuring<Value>(work: Promise<Value>): Promise<Value>;
  release(): void;
};

/** @param onReleased receives the number of permits that are released during work */
export function createFairSemaphore(size: number, onReleased: (count: number) => void): FairSemaphore {
  const waiting = createFairQueue<() => void>(Number.POSITIVE_INFINITY);
  let free = size;
  let released = 0;
  const changeReleased = (by: number) => {
    released += by;
    onReleased(released);
  };
  async function acquire(owner: string): Promise<void> {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.add(owner, resolve));
  }
  function release(): void {
    const next = waiting.next();
    if (next === null) free++;
    else next();
  }
  function createPermit(owner: string): Permit {
    let held = true;
    return {
      async releaseDuring(work) {
        held = false;
        release();
        changeReleased(1);
        try {
          const value = await work;
          await acquire(owner);
          held = true;
          return value;
        } finally {
          changeReleased(-1);
        }
      },
      release() {
        if (held) release();
        held = false;
      },
    };
  }
  return {
    acquire(owner) {
      if (free === 0 && waiting.size() === 0) return null;
      return acquire(owner).then(() => createPermit(owner));
    },
  };
}
