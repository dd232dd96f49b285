/** Rate limiters by key: of one process, shared in Redis, and those of log-ins. */

import { createHmac } from 'node:crypto';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import type { Rate } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { networkOf } from '../network.ts';
import type { Redis } from '../redis.ts';
import { UserError } from './credentials.ts';
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

// Rate limits of log-ins, sign-ups and new tokens.

const minute = 60;
/** `account` and `check` count per account and network: guesses from one network keep nobody out of another. */
const limits = {
  account: { requests: 10, seconds: 15 * minute },
  address: { requests: 50, seconds: 15 * minute },
  /** Every check, since each takes 0.1 s of a core. */
  check: { requests: 20, seconds: minute },
  signUp: { requests: 20, seconds: 60 * minute },
  token: { requests: 200, seconds: 60 * minute },
} as const satisfies Record<string, Rate>;

export function createLoginThrottle(store: RateLimiterFactory = inMemory) {
  const make = (name: keyof typeof limits) => store(name, limits[name]);
  const account = make('account');
  const address = make('address');
  const check = make('check');
  const signUp = make('signUp');
  const token = make('token');
  return {
    /** Runs `work`, which checks a password, and counts failed attempts. @throws ServiceError `rate_limited` */
    async password<T>(
      from: { readonly email: string; readonly address: string },
      work: () => Promise<T>,
    ): Promise<T> {
      const network = networkOf(from.address);
      const pair = `${from.email.toLowerCase()} ${network}`;
      const refund = () => Promise.all([address.reward(network), account.reward(pair)]);
      await attempt(check, pair);
      // Counted before the check and refunded after it, to limit parallel attempts.
      await attempt(address, network);
      await attempt(account, pair);
      try {
        const result = await work();
        await refund();
        return result;
      } catch (error) {
        if (!(error instanceof UserError)) await Promise.all([refund(), check.reward(pair)]);
        throw error;
      }
    },
    signUp: (ip: string) => attempt(signUp, networkOf(ip)),
    token: (owner: string) => attempt(token, owner),
  };
}

async function attempt(counter: RateLimiterAbstract, key: string): Promise<void> {
  const { full, seconds } = await consume(counter, key);
  if (full)
    throw new ServiceError('rate_limited', `Too many attempts; try again in ${seconds} s`, {
      retryAfterSeconds: seconds,
    });
}
