/**
 * A budget shared by keys, such as owners and hosts, with dynamic thresholds (Choudhury and Hahne 1998): a key may use
 * at most as much as it leaves free. A single key gets half, two keys a third each.
 */
export type FairBudget = {
  /** The most that the key may add now. */
  available(key: string, used?: ExternalUse): number;
  open(keys: readonly string[]): Reservation;
};

/** What is used outside of this process: by all keys, and by one key. */
export type ExternalUse = { readonly all: number; readonly own: number };

/** Counts for all keys that it was opened with. */
export type Reservation = {
  /** Returns false, and adds nothing, when one of the keys would exceed its share. */
  add(amount: number, used?: ExternalUse): boolean;
  /** Releases the total. */
  release(): void;
};

/** @param firstAmount what a key without any use may add regardless of its share, as far as it is free */
export function createFairBudget(size: number, firstAmount = size): FairBudget {
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
    return Math.max(0, first, Math.floor((free - used) / 2));
  }
  return {
    available,
    open(keys) {
      let added = 0;
      return {
        add(amount, used) {
          if (keys.some((key) => amount > available(key, used))) return false;
          change(keys, amount);
          added += amount;
          return true;
        },
        release() {
          change(keys, -added);
          added = 0;
        },
      };
    },
  };
}
