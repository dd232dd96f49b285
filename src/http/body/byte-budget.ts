/**
 * Bytes of request bodies in memory, shared among accounts by dynamic thresholds (Choudhury and Hahne, IEEE/ACM
 * Transactions on Networking 6(2), 1998): an account may hold at most three times the free bytes.
 * A single account reaches 3/4 of the limit; n busy accounts settle at 3/(3n + 1) each. An account without a reservation
 * can always reserve 3/4 of the free bytes.
 */
import { ServiceError } from '../../runtime/errors.ts';

export type ByteBudget = {
  /** Returns whether `reserve` would succeed now. */
  fits(account: string, bytes: number): boolean;
  /** Reserves all of the bytes, or none of them and returns false. */
  reserve(account: string, bytes: number): boolean;
  release(account: string, bytes: number): void;
  /** Reserved by all accounts together. */
  bytes(): number;
  /** Accounts with a reservation. */
  accounts(): number;
};

/** Bytes that an account may hold per free byte. */
const shareOfFree = 3;

export function createByteBudget(limit: number): ByteBudget {
  const held = new Map<string, number>();
  let total = 0;
  const heldBy = (account: string) => held.get(account) ?? 0;
  const fits = (account: string, bytes: number) =>
    heldBy(account) + bytes <= shareOfFree * (limit - total - bytes);
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
      const remaining = heldBy(account) - bytes;
      if (remaining > 0) held.set(account, remaining);
      else held.delete(account);
    },
    bytes: () => total,
    accounts: () => held.size,
  };
}

/** The reserved bytes of one body. */
export type Reservation = {
  /** Reserves bytes that arrived. Returns false when they exceed the account's share. */
  add(bytes: number): boolean;
  /** Releases all bytes by default. */
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
