/** Slows down whoever guesses passwords or fills the database. Each process counts for itself. */
import { isIPv6 } from 'node:net';
import { type IRateLimiterOptions, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Failure } from '../errors.ts';
import { UserError } from './refusal.ts';

export type Guard = {
  /** Does `work`, which checks a password; one that is right is not counted. @throws Failure `rate_limited` */
  password<T>(who: { readonly email: string; readonly address: string }, work: () => Promise<T>): Promise<T>;
  signUp(address: string): Promise<void>;
  token(owner: string): Promise<void>;
};

const minute = 60;
const limits = {
  account: { points: 10, duration: 15 * minute },
  address: { points: 50, duration: 15 * minute },
  signUp: { points: 20, duration: 60 * minute },
  token: { points: 200, duration: 60 * minute },
} as const satisfies Record<string, IRateLimiterOptions>;

export function createGuard(): Guard {
  const make = (name: keyof typeof limits) => new RateLimiterMemory({ ...limits[name], keyPrefix: name });
  const account = make('account');
  const address = make('address');
  const signUp = make('signUp');
  const token = make('token');
  return {
    async password(who, work) {
      const network = networkOf(who.address);
      const email = who.email.toLowerCase();
      const giveBack = () => Promise.all([address.reward(network), account.reward(email)]);
      // Counted before and taken back after, so that many at one time are counted too.
      await count(address, network);
      await count(account, email);
      try {
        const result = await work();
        await giveBack();
        return result;
      } catch (error) {
        if (!(error instanceof UserError)) await giveBack();
        throw error;
      }
    },
    signUp: (from) => count(signUp, networkOf(from)),
    token: (owner) => count(token, owner),
  };
}

async function count(limiter: RateLimiterMemory, key: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    const seconds = Math.ceil(refusal.msBeforeNext / 1000);
    throw new Failure('rate_limited', `Too many attempts; try again in ${seconds} s`, [], seconds);
  }
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
