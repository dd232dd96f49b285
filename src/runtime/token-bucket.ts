/** A rate limit: `size` at once, and `perSecond`. */
export type TokenBucket = {
  /** @param count 1 by default. @returns ms until it is within the limit, 0 when it is */
  take(count?: number): number;
};

export function createTokenBucket(size: number, perSecond: number): TokenBucket {
  let credit = size;
  let at = performance.now();
  return {
    take: (count = 1) => {
      const now = performance.now();
      credit = Math.min(size, credit + ((now - at) / 1000) * perSecond) - count;
      at = now;
      return Math.max(0, (-1000 * credit) / perSecond);
    },
  };
}
