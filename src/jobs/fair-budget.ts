/**
 * A resource shared by keys, such as owners and hosts. A key may hold at most as much as it leaves free (dynamic
 * thresholds), so one key alone gets half.
 */

export type FairBudget = {
  open(keys: readonly string[]): Reservation;
};

/** Held by all keys that it was opened with. */
export type Reservation = {
  /** Returns false, and adds nothing, when one of the keys would exceed its share. */
  add(amount: number): boolean;
  /** Releases all that was added. */
  release(): void;
};

export function createFairBudget(size: number): FairBudget {
  const held = new Map<string, number>();
  let total = 0;
  const change = (keys: readonly string[], by: number) => {
    total += by;
    for (const key of keys) {
      const now = (held.get(key) ?? 0) + by;
      if (now > 0) held.set(key, now);
      else held.delete(key);
    }
  };
  const fits = (key: string, amount: number) => {
    const own = held.get(key) ?? 0;
    const free = size - total - amount;
    return own === 0 ? free >= 0 : own + amount <= free;
  };
  return {
    open(keys) {
      let added = 0;
      return {
        add(amount) {
          if (!keys.every((key) => fits(key, amount))) return false;
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
