/** Who may create an account without the command line: the first one alone, everybody, or nobody. */

import type { Database } from '../db/database.ts';
import type { Config } from '../runtime/config.ts';
import { ServiceError } from '../runtime/errors.ts';
import { claimFirstAccount, hasHadAccounts, keepAsFirst } from './administrators.ts';
import type { Session } from './users.ts';

export type SignUpPolicy = Config['signUp'];

export type SignUp = {
  /** `first`: there is no account yet, and sign-up closes with the first one. */
  state(): Promise<SignUpPolicy>;
  /** @throws Failure `forbidden` when sign-up is closed */
  create(account: NewAccount): Promise<Session>;
};

type NewAccount = {
  create(): Promise<Session>;
  /** Deletes what `create` made. */
  discard(login: Session): Promise<void>;
};

export function createSignUp(database: Database, policy: SignUpPolicy): SignUp {
  // There is no way back: it is looked up until it is true.
  let hadAccounts = false;

  async function state(): Promise<SignUpPolicy> {
    if (policy !== 'first') return policy;
    hadAccounts ||= await hasHadAccounts(database);
    return hadAccounts ? 'closed' : 'first';
  }

  async function createFirst({ create, discard }: NewAccount): Promise<Session> {
    const claim = await claimFirstAccount(database);
    if (claim === null) throw closed();
    const login = await create().catch(async (error: unknown) => {
      // A database that is unreachable keeps the claim until it expires.
      await claim.release().catch(() => {});
      throw error;
    });
    if (await claim.keep(login.session.owner)) return login;
    await discard(login);
    throw closed();
  }

  return {
    state,
    async create(account) {
      if (policy === 'closed') throw closed();
      if (policy === 'first') return createFirst(account);
      const login = await account.create();
      await keepAsFirst(database, login.session.owner);
      return login;
    },
  };
}

export function closed(): ServiceError {
  const message =
    'Sign-up is closed on this service: its operator creates accounts with `undertone user create`';
  return new ServiceError('forbidden', message);
}
