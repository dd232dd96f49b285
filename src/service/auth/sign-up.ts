/** Sign-up policies: one first account, open, or closed. */
import type { Config } from '../config.ts';
import type { Database } from '../database.ts';
import { ServiceError } from '../errors.ts';
import { claimFirstAccount, hasHadAccounts, keepAsFirst } from './administrators.ts';
import type { AccountSession } from './users.ts';

export type SignUpPolicy = Config['signUp'];

type NewAccount = {
  create(): Promise<AccountSession>;
  /** Deletes the created account. */
  discard(session: AccountSession): Promise<void>;
};

export function createSignUp(database: Database, policy: SignUpPolicy) {
  // Never reverts to false, so it is queried until it is true.
  let hadAccounts = false;

  /** `first`: no account exists yet, and sign-up closes with the first one. */
  async function state(): Promise<SignUpPolicy> {
    if (policy !== 'first') return policy;
    hadAccounts ||= await hasHadAccounts(database);
    return hadAccounts ? 'closed' : 'first';
  }

  async function createFirst({ create, discard }: NewAccount): Promise<AccountSession> {
    const claim = await claimFirstAccount(database);
    if (claim === null) throw closed();
    const session = await create().catch(async (error: unknown) => {
      // A database that is unreachable keeps the claim until it expires.
      await claim.release().catch(() => {});
      throw error;
    });
    if (await claim.keep(session.session.owner)) return session;
    await discard(session);
    throw closed();
  }

  return {
    state,
    /** @throws ServiceError `forbidden` when sign-up is closed */
    async create(account: NewAccount): Promise<AccountSession> {
      if (policy === 'closed') throw closed();
      if (policy === 'first') return createFirst(account);
      const session = await account.create();
      await keepAsFirst(database, session.session.owner);
      return session;
    },
  };
}

export function closed(): ServiceError {
  const message =
    'Sign-up is closed on this service: its operator creates accounts with `undertone user create`';
  return new ServiceError('forbidden', message);
}
