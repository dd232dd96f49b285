/** Admission to the queue: jobs that wait, and those of requests in progress, share its slots as a FairBudget. */
import { ServiceError } from '../runtime/errors.ts';
import { createFairBudget, type ExternalUse } from '../runtime/fair-budget.ts';

export type QueueSlots = {
  /** Reserves slots until `work` has added the jobs. @throws ServiceError `overloaded` when the owner's share is smaller */
  reserve<T>(owner: string, count: number, work: () => Promise<T>): Promise<T>;
};

const retryAfterSeconds = 5;

export function createQueueSlots(options: {
  readonly size: number;
  /** Counts the jobs in the queue. */
  countUsed(owner: string): Promise<ExternalUse>;
}): QueueSlots {
  const budget = createFairBudget(options.size, { firstAmount: 1 });
  return {
    async reserve(owner, count, work) {
      if (count === 0) return work();
      const used = await options.countUsed(owner);
      const reservation = budget.open([owner]);
      if (!reservation.add(count, used)) {
        const available = budget.available(owner, used);
        const message = `Expected at most ${available} more jobs of this owner in the queue, got ${count}`;
        throw new ServiceError('overloaded', message, { retryAfterSeconds });
      }
      try {
        return await work();
      } finally {
        reservation.release();
      }
    },
  };
}
