/** Rate limiters in Redis, shared by all processes. While Redis is unreachable each process counts for itself. */
import { createHmac } from 'node:crypto';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { Redis } from '../runtime/redis.ts';
import { inMemory, type RateLimiterFactory } from './rate-limiter.ts';
import { deriveKey } from './secret.ts';

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
