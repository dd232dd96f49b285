/**
 * A budget shared by keys, such as accounts and hosts, with dynamic thresholds (Choudhury and Hahne, IEEE/ACM Transactions on
 * Networking 6(2), 1998): a key may use at most `shareOfFree` times as much as is free. A single key gets s / (s + 1) of the
 * size; n busy keys settle at s / (ns + 1) each.
 */
export type FairBudget = {
  /** The most that the key may add now. */
  available(key: string, used?: ExternalUse): number;
  open(keys: readonly string[]): Reservation;
  /** Used by all keys together. */
  used(): number;
  /** Number of keys with a use. */
  keys(): number;
};

/** Amounts used outside this process: by all keys, and by the key in question. */
export type ExternalUse = { readonly all: number; readonly own: number };

/** Counts for all keys that it was opened with. */
export type Reservation = {
  /** Returns false, and adds nothing, when one of the keys would exceed its share. */
  add(amount: number, used?: ExternalUse): boolean;
  /** Releases the total by default. */
  release(amount?: number): void;
};

type Options = {
  readonly shareOfFree?: number;
  /** Amount that a key with no use may add beyond its share, if it is free; the size by default. */
  readonly firstAmount?: number;
};

export function createFairBudget(
  size: number,
  { shareOfFree = 1, firstAmount = size }: Options = {},
): FairBudget {
  const amounts = new Map<string, number>();
  let total = 0;
  function change(keys: readonly string[], by: number): void {
    total += by;
    for (const key of keys) {
      const amount = (amounts.get(key) ?? 0) + by;
      if (amount > 0) amounts.set(key, amount);
      else amounts.delete(key);
    }
  }
  function available(key: string, { all, own }: ExternalUse = { all: 0, own: 0 }): number {
    const used = own + (amounts.get(key) ?? 0);
    const free = size - all - total;
    const first = used === 0 ? Math.min(firstAmount, free) : 0;
    return Math.max(0, first, Math.floor((shareOfFree * free - used) / (shareOfFree + 1)));
  }
  return {
    available,
    used: () => total,
    keys: () => amounts.size,
    open(keys) {
      let added = 0;
      return {
        add(amount, used) {
          if (keys.some((key) => amount > available(key, used))) return false;
          change(keys, amount);
          added += amount;
          return true;
        },
        release(amount = added) {
          change(keys, -amount);
          added -= amount;
        },
      };
    },
  };
}
