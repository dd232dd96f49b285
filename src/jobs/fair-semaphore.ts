/**
 * The analysis slots of a lane. A job leaves its slot while it waits for a slow server, and waits for a slot afterwards.
 * Owners that wait for a slot take turns.
 */
import { createFairQueue } from '../workers/fair-queue.ts';

export type FairSemaphore = {
  /** Returns null when all slots are taken and no job of this worker waits for one: another worker may have one. */
  acquire(owner: string): Promise<Permit> | null;
};

export type Permit = {
  /** Another job may have the slot until `work` is fulfilled. The slot is gone when `work` rejects. */
  releaseDuring<Value>(work: Promise<Value>): Promise<Value>;
  release(): void;
};

/** @param onLeft receives the number of jobs that have left their slots */
export function createFairSemaphore(size: number, onLeft: (count: number) => void): FairSemaphore {
  const waiting = createFairQueue<() => void>(Number.POSITIVE_INFINITY);
  let free = size;
  let left = 0;
  const changeLeft = (by: number) => {
    left += by;
    onLeft(left);
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
  function createSlot(owner: string): Permit {
    let held = true;
    return {
      async releaseDuring(work) {
        held = false;
        release();
        changeLeft(1);
        try {
          const value = await work;
          await acquire(owner);
          held = true;
          return value;
        } finally {
          changeLeft(-1);
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
      return acquire(owner).then(() => createSlot(owner));
    },
  };
}
