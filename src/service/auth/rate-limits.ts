/** Rate limiters by key: of one process, or shared in Redis. */

import { createHmac } from 'node:crypto';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import type { Rate } from '../config.ts';
import type { Redis } from '../redis.ts';
import { deriveKey } from './secret.ts';

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

/** A window that ends later than one that starts now was counted before the clock was set back: it starts anew. */
export async function consume(counter: RateLimiterAbstract, key: string): Promise<RateLimitResult> {
  const first = await count(counter, key);
  if (first.seconds <= counter.duration + 1) return first;
  await counter.delete(key);
  return count(counter, key);
}

async function count(counter: RateLimiterAbstract, key: string): Promise<RateLimitResult> {
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

/** Returns a function that is true for the first use of a key in `seconds`. */
export function useOnce(
  create: RateLimiterFactory,
  name: string,
  seconds: number,
): (key: string) => Promise<boolean> {
  const counter = create(name, { requests: 1, seconds });
  return async (key) => !(await count(counter, key)).full;
}

// Rate limiters in Redis, shared by all processes. While Redis is unreachable each process counts for itself.

/** @param onChange called when the connection is lost, missing at the start, or restored */
export function createSharedRateLimiters(
  redis: Redis,
  secret: string,
  onChange: (connected: boolean) => void,
): RateLimiterFactory {
  let connected = true;
  const update = (now: boolean) => {
    if (connected !== now) onChange(now);
    connected = now;
  };
  redis.on('ready', () => update(true));
  redis.on('close', () => update(false));
  const digestKey = deriveKey(secret, 'counter keys');
  return (name, { requests, seconds }) => {
    const options = {
      storeClient: redis,
      keyPrefix: `undertone:${name}`,
      points: requests,
      duration: seconds,
      rejectIfRedisNotReady: true,
      insuranceLimiter: inMemory(name, { requests, seconds }),
    };
    return new HashedKeyLimiter(options, digestKey);
  };
}

/** Keyed digests: plain hashes of e-mail and network addresses could be reversed by guessing. */
class HashedKeyLimiter extends RateLimiterRedis {
  readonly #digestKey: Buffer;

  constructor(options: ConstructorParameters<typeof RateLimiterRedis>[0], digestKey: Buffer) {
    super(options);
    this.#digestKey = digestKey;
  }

  override getKey(key: string | number): string {
    // Digests the prefix too: an address has unrelated keys in different limiters.
    const digest = createHmac('sha256', this.#digestKey).update(super.getKey(key)).digest('base64url');
    return super.getKey(digest);
  }
}
