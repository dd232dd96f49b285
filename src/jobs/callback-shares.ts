/**
 * Callbacks that are under way, of each owner and to each host. Either may have at most as many as there is room left
 * for, so that those that are never answered leave room for all others.
 */

export type CallbackShares = {
  /** Takes one for each key; null while one of them has its share. Call what it returns when the callback has ended. */
  take(keys: readonly string[]): (() => void) | null;
};

/** @param size callbacks that may be under way at once */
export function createCallbackShares(size: number): CallbackShares {
  const underWay = new Map<string, number>();
  let all = 0;
  const hasRoom = (key: string) => {
    const own = underWay.get(key) ?? 0;
    const left = size - all - 1;
    return own === 0 ? left >= 0 : own < left;
  };
  const change = (key: string, by: number) => {
    const now = (underWay.get(key) ?? 0) + by;
    if (now > 0) underWay.set(key, now);
    else underWay.delete(key);
  };
  return {
    take(keys) {
      if (!keys.every(hasRoom)) return null;
      all++;
      for (const key of keys) change(key, 1);
      return () => {
        all--;
        for (const key of keys) change(key, -1);
      };
    },
  };
}
