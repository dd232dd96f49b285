/** Rate limiters by key. */
import { isIPv6 } from 'node:net';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Rate } from '../runtime/config.ts';

/** Creates a rate limiter; names separate their keys. */
export type RateLimiterFactory = (name: string, rate: Rate) => RateLimiterAbstract;

/** Counts per process. */
export const inMemory: RateLimiterFactory = (keyPrefix, { requests, seconds }) =>
  new RateLimiterMemory({ keyPrefix, points: requests, duration: seconds });

export type RateLimitResult = {
  readonly full: boolean;
  readonly remaining: number;
  /** Seconds until the count restarts. */
  readonly seconds: number;
};

export async function consume(counter: RateLimiterAbstract, key: string): Promise<RateLimitResult> {
  try {
    return toResult(await counter.consume(key), false);
  } catch (result) {
    if (!(result instanceof RateLimiterRes)) throw result;
    return toResult(result, true);
  }
}

function toResult({ msBeforeNext, remainingPoints }: RateLimiterRes, full: boolean): RateLimitResult {
  return { full, remaining: remainingPoints, seconds: Math.ceil(msBeforeNext / 1000) };
}

/** Returns the /64 of an IPv6 address, which one customer of a provider controls, or the IPv4 address. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const before = head.split(':').filter((group) => group !== '');
  const after = tail.split(':').filter((group) => group !== '');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

/** Returns a function that is true for the first use of a key in `seconds`. */
export function useOnce(
  create: RateLimiterFactory,
  name: string,
  seconds: number,
): (key: string) => Promise<boolean> {
  const counter = create(name, { requests: 1, seconds });
  return async (key) => !(await consume(counter, key)).full;
}
