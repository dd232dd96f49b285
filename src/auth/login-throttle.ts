/** Slows down whoever guesses passwords or fills the database. */
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Rate } from '../runtime/config.ts';
import { ServiceError } from '../runtime/errors.ts';
import { consume, inMemory, networkOf, type RateLimiterFactory } from './rate-limiter.ts';
import { UserError } from './user-errors.ts';

export type LoginThrottle = {
  /** Does `work`, which checks a password; one that is right does not count as wrong. @throws Failure `rate_limited` */
  password<T>(who: { readonly email: string; readonly address: string }, work: () => Promise<T>): Promise<T>;
  signUp(address: string): Promise<void>;
  token(owner: string): Promise<void>;
};

const minute = 60;
const limits = {
  account: { requests: 10, seconds: 15 * minute },
  address: { requests: 50, seconds: 15 * minute },
  /** Right and wrong ones: each takes a tenth of a second of a core. */
  check: { requests: 20, seconds: minute },
  signUp: { requests: 20, seconds: 60 * minute },
  token: { requests: 200, seconds: 60 * minute },
} as const satisfies Record<string, Rate>;

export function createLoginThrottle(store: RateLimiterFactory = inMemory): LoginThrottle {
  const make = (name: keyof typeof limits) => store(name, limits[name]);
  const account = make('account');
  const address = make('address');
  const check = make('check');
  const signUp = make('signUp');
  const token = make('token');
  return {
    async password(who, work) {
      const network = networkOf(who.address);
      const email = who.email.toLowerCase();
      const giveBack = () => Promise.all([address.reward(network), account.reward(email)]);
      await attempt(check, email);
      // Counted before and taken back after, so that many at one time are counted too.
      await attempt(address, network);
      await attempt(account, email);
      try {
        const result = await work();
        await giveBack();
        return result;
      } catch (error) {
        if (!(error instanceof UserError)) await Promise.all([giveBack(), check.reward(email)]);
        throw error;
      }
    },
    signUp: (from) => attempt(signUp, networkOf(from)),
    token: (owner) => attempt(token, owner),
  };
}

async function attempt(counter: RateLimiterAbstract, key: string): Promise<void> {
  const { full, seconds } = await consume(counter, key);
  if (full)
    throw new ServiceError('rate_limited', `Too many attempts; try again in ${seconds} s`, {
      retryAfterSeconds: seconds,
    });
}
