/**
 * Bytes of request bodies in memory, shared among accounts by dynamic thresholds (Choudhury and Hahne, IEEE/ACM
 * Transactions on Networking 6(2), 1998): an account may hold at most three times the bytes that are left free.
 * A single account reaches 3/4 of the limit; n busy accounts settle at 3/(3n + 1) each. An account that holds nothing can
 * always reserve 3/4 of the free bytes, so no account takes the last of them.
 */
import { ServiceError } from '../../runtime/errors.ts';

export type ByteBudget = {
  /** Whether `reserve` would succeed now. */
  fits(account: string, bytes: number): boolean;
  /** Reserves all of the bytes, or none and returns false. */
  reserve(account: string, bytes: number): boolean;
  release(account: string, bytes: number): void;
  /** Reserved by all accounts together. */
  bytes(): number;
  /** Accounts that hold any. */
  accounts(): number;
};

/** An account may hold at most so many times the free bytes. */
const timesFree = 3;

export function createByteBudget(limit: number): ByteBudget {
  const held = new Map<string, number>();
  let total = 0;
  const heldBy = (account: string) => held.get(account) ?? 0;
  const fits = (account: string, bytes: number) =>
    heldBy(account) + bytes <= timesFree * (limit - total - bytes);
  return {
    fits,
    reserve: (account, bytes) => {
      if (!fits(account, bytes)) return false;
      total += bytes;
      held.set(account, heldBy(account) + bytes);
      return true;
    },
    release: (account, bytes) => {
      total -= bytes;
      const left = heldBy(account) - bytes;
      if (left > 0) held.set(account, left);
      else held.delete(account);
    },
    bytes: () => total,
    accounts: () => held.size,
  };
}

/** What one body holds of a budget. */
export type Reservation = {
  /** Adds bytes that arrived. False when they do not fit into the account's share. */
  add(bytes: number): boolean;
  /** Gives so many bytes back, or everything. */
  release(bytes?: number): void;
};

export function createReservation(budget: ByteBudget, account: string): Reservation {
  let held = 0;
  return {
    add: (bytes) => {
      if (!budget.reserve(account, bytes)) return false;
      held += bytes;
      return true;
    },
    release: (bytes = held) => {
      budget.release(account, bytes);
      held -= bytes;
    },
  };
}

export function overByteShare(): ServiceError {
  return new ServiceError('overloaded', "The account's share of the memory for request bodies is used up");
}
