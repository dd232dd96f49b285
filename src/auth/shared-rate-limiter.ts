/** Counts in Redis, for every host together; while Redis is away each process counts for itself. */
import { createHmac } from 'node:crypto';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { Redis } from '../runtime/redis.ts';
import { inMemory, type RateLimiterFactory } from './rate-limiter.ts';
import { deriveKey } from './secret.ts';

/** `onChange` hears when Redis is lost, or not there at the start, and when it is back. */
export function createSharedRateLimiters(
  redis: Redis,
  secret: string,
  onChange: (there: boolean) => void,
): RateLimiterFactory {
  let there = true;
  const tell = (now: boolean) => {
    if (there !== now) onChange(now);
    there = now;
  };
  redis.on('ready', () => tell(true));
  redis.on('close', () => tell(false));
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

/** E-mail and network addresses are few enough to be guessed from a plain hash: their digests are keyed. */
class HashedKeyLimiter extends RateLimiterRedis {
  readonly #digestKey: Buffer;

  constructor(options: ConstructorParameters<typeof RateLimiterRedis>[0], digestKey: Buffer) {
    super(options);
    this.#digestKey = digestKey;
  }

  override getKey(key: string | number): string {
    // The prefix is part of what is digested: nobody sees that one address is in several counters.
    const digest = createHmac('sha256', this.#digestKey).update(super.getKey(key)).digest('base64url');
    return super.getKey(digest);
  }
}
