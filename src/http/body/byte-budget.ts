/** Bytes of request bodies in memory, shared by accounts. A single account reaches 3/4 of the limit. */

import { ServiceError } from '../../runtime/errors.ts';
import { createFairBudget, type FairBudget } from '../../runtime/fair-budget.ts';

export function createByteBudget(limit: number): FairBudget {
  return createFairBudget(limit, { shareOfFree: 3, firstAmount: 0 });
}

export function overByteShare(): ServiceError {
  return new ServiceError('overloaded', "The account's share of the memory for request bodies is used up");
}
