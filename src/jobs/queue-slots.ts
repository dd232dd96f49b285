/**
 * Places in the queue. An owner may hold at most as many as are left free, so a single owner fills half of the queue, two
 * a third each, and there is always a place for the next one.
 */
import { ServiceError } from '../runtime/errors.ts';

export type QueueSlots = {
  /** Keeps places until `work` has filled them. @throws Failure `overloaded` when there are fewer for the owner */
  reserve<T>(owner: string, count: number, work: () => Promise<T>): Promise<T>;
};

const retryAfterSeconds = 5;

export function createQueueSlots(options: {
  readonly size: number;
  /** Places taken by everybody, and by the owner. */
  countUsed(owner: string): Promise<readonly [all: number, own: number]>;
}): QueueSlots {
  /** Places of this process whose jobs are not in the queue yet. */
  const reserved = new Map<string, number>();
  const change = (owner: string, by: number) => {
    const now = (reserved.get(owner) ?? 0) + by;
    if (now > 0) reserved.set(owner, now);
    else reserved.delete(owner);
  };
  return {
    async reserve(owner, count, work) {
      if (count === 0) return work();
      const [all, own] = await options.countUsed(owner);
      const reservedByAll = [...reserved.values()].reduce((sum, one) => sum + one, 0);
      const free = options.size - all - reservedByAll;
      const left = freeFor(own + (reserved.get(owner) ?? 0), free);
      if (count > left) throw noSlots(count, left);
      change(owner, count);
      try {
        return await work();
      } finally {
        change(owner, -count);
      }
    },
  };
}

/** The most that an owner with `own` places may take of `free`, so that as many stay free as it then has. */
function freeFor(own: number, free: number): number {
  const first = own === 0 ? Math.min(1, free) : 0;
  return Math.max(0, first, Math.floor((free - own) / 2));
}

function noSlots(count: number, left: number): ServiceError {
  const message = `Expected at most ${left} more jobs of this owner in the queue, got ${count}`;
  return new ServiceError('overloaded', message, { retryAfterSeconds });
}
