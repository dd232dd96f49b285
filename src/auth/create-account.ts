/** Creates an account on the command line. */
import type { Database } from '../db/database.ts';
import { grantAdmin, keepAsFirst } from './administrators.ts';
import { type Credentials, cookieHeader, type Users } from './users.ts';

/** @returns whether the account is an administrator, as the first one always is @throws UserError `taken` */
export async function createAccount(
  { database, users }: { readonly database: Database; readonly users: Users },
  credentials: Credentials,
  asAdministrator: boolean,
): Promise<boolean> {
  const { session, cookies } = await users.signUp(credentials);
  const isFirst = await keepAsFirst(database, session.owner);
  if (asAdministrator && !isFirst) await grantAdmin(database, session.owner);
  await users.logOut(cookieHeader(cookies));
  return isFirst || asAdministrator;
}
