/** Sign-up policies: one first account, open, or closed. */
import type { Database } from '../db/database.ts';
import type { Config } from '../runtime/config.ts';
import { ServiceError } from '../runtime/errors.ts';
import { claimFirstAccount, hasHadAccounts, keepAsFirst } from './administrators.ts';
import type { Session } from './users.ts';

export type SignUpPolicy = Config['signUp'];

export type SignUp = {
  /** `first`: no account exists yet, and sign-up closes with the first one. */
  state(): Promise<SignUpPolicy>;
  /** @throws ServiceError `forbidden` when sign-up is closed */
  create(account: NewAccount): Promise<Session>;
};

type NewAccount = {
  create(): Promise<Session>;
  /** Deletes the created account. */
  discard(session: Session): Promise<void>;
};

export function createSignUp(database: Database, policy: SignUpPolicy): SignUp {
  // Never reverts to false, so it is queried until it is true.
  let hadAccounts = false;

  async function state(): Promise<SignUpPolicy> {
    if (policy !== 'first') return policy;
    hadAccounts ||= await hasHadAccounts(database);
    return hadAccounts ? 'closed' : 'first';
  }

  async function createFirst({ create, discard }: NewAccount): Promise<Session> {
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
    async create(account) {
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
