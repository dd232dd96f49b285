/** Rate limits of log-ins, sign-ups and new tokens. */
import type { Rate } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { networkOf } from '../network.ts';
import { UserError } from './credentials.ts';
import { consume, inMemory, type RateLimiterFactory } from './rate-limits.ts';

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

async function attempt(counter: ReturnType<RateLimiterFactory>, key: string): Promise<void> {
  const { full, seconds } = await consume(counter, key);
  if (full)
    throw new ServiceError('rate_limited', `Too many attempts; try again in ${seconds} s`, {
      retryAfterSeconds: seconds,
    });
}
