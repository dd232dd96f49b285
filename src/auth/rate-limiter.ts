/** Counts of attempts and requests over a span of time: where they are kept, and what is told when one is full. */
import { isIPv6 } from 'node:net';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Rate } from '../runtime/config.ts';

/** Makes the counts of one name, each with a key of its own. */
export type RateLimiterFactory = (name: string, rate: Rate) => RateLimiterAbstract;

/** Each process counts for itself. */
export const inMemory: RateLimiterFactory = (keyPrefix, { requests, seconds }) =>
  new RateLimiterMemory({ keyPrefix, points: requests, duration: seconds });

export type RateLimitResult = {
  readonly full: boolean;
  readonly remaining: number;
  /** Until the count begins anew. */
  readonly seconds: number;
};

export async function consume(counter: RateLimiterAbstract, key: string): Promise<RateLimitResult> {
  try {
    return toCount(await counter.consume(key), false);
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    return toCount(refusal, true);
  }
}

function toCount({ msBeforeNext, remainingPoints }: RateLimiterRes, full: boolean): RateLimitResult {
  return { full, remaining: remainingPoints, seconds: Math.ceil(msBeforeNext / 1000) };
}

/** One customer of a network provider holds 2^64 addresses of IPv6: they count as one. */
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
