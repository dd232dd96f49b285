/** Rate limits by token and by address, applied before the body is read (draft-ietf-httpapi-ratelimit-headers-11). */

import type { Context, Next } from 'koa';
import type { RateLimiterFactory, RateLimitResult } from '../auth/rate-limits.ts';
import type { Config, Rate } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { networkOf } from '../network.ts';

export type RateLimits = ReturnType<typeof createRateLimits>;

/** Supervisors and load balancers send many requests from one address. */
const unlimited: ReadonlySet<string> = new Set(['/health', '/ready']);

/** @param store null for the memory of this process */
export function createRateLimits(
  { addressRate, tokenRate }: Pick<Config, 'addressRate' | 'tokenRate'>,
  store: RateLimiterFactory | null,
) {
  const address = createLimit('address', addressRate, store);
  const token = createLimit('token', tokenRate, store);
  return {
    /** Before the token is verified, so that guesses count too. The address costs a system call. */
    address: async function limitAddress(context: Context, next: Next) {
      if (!unlimited.has(context.path)) await address(context, () => context.ip);
      return next();
    },
    /** @throws ServiceError `rate_limited` */
    token: (context: Context, id: string) => token(context, () => id),
  };
}

type Name = 'address' | 'token';
type Counter = (key: string) => Promise<RateLimitResult>;
type Limit = (context: Context, key: () => string) => Promise<void>;

function createLimit(name: Name, rate: Rate | null, store: RateLimiterFactory | null): Limit {
  if (rate === null) return async () => {};
  // RateLimit-Policy: the quota and the window in seconds.
  const policy = `"${name}";q=${rate.requests};w=${rate.seconds}`;
  let counter: Promise<Counter> | null = null;
  return async (context, key) => {
    counter ??= openCounter(name, rate, store);
    const { full, remaining, seconds } = await (await counter)(key());
    context.append('RateLimit-Policy', policy);
    // RateLimit: what remains of the quota, and the seconds until it is restored.
    context.append('RateLimit', `"${name}";r=${remaining};t=${seconds}`);
    setOlderNames(context, rate.requests, remaining, seconds);
    if (!full) return;
    const limit = `at most ${rate.requests} requests in ${rate.seconds} s from one ${name}`;
    throw new ServiceError('rate_limited', `Expected ${limit}, got more`, { retryAfterSeconds: seconds });
  };
}

/** The older names hold one limit: that with the fewest requests left. The reset is in seconds since 1970. */
function setOlderNames(context: Context, limit: number, remaining: number, seconds: number): void {
  const least = context.response.get('X-RateLimit-Remaining');
  if (least !== '' && Number(least) <= remaining) return;
  context.set({
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(Math.ceil(Date.now() / 1000) + seconds),
  });
}

/** Loads its module on the first request. */
async function openCounter(name: Name, rate: Rate, store: RateLimiterFactory | null): Promise<Counter> {
  const { consume, inMemory } = await import('../auth/rate-limits.ts');
  const counter = (store ?? inMemory)(`${name}-rate`, rate);
  return (key) => consume(counter, name === 'address' ? networkOf(key) : key);
}
