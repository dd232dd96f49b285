/** Makes an account for somebody else, who logs in later. */

import type { Database } from '../db/database.ts';
import { appoint, keepAsFirst } from './administrators.ts';
import { type Credentials, cookieHeader, type Users } from './users.ts';

/** @returns whether it is an administrator, as the very first account always is @throws UserError `taken` */
export async function enrol(
  { database, users }: { readonly database: Database; readonly users: Users },
  credentials: Credentials,
  asAdministrator: boolean,
): Promise<boolean> {
  const { session, cookies } = await users.signUp(credentials);
  const isFirst = await keepAsFirst(database, session.owner);
  if (asAdministrator && !isFirst) await appoint(database, session.owner);
  await users.logOut(cookieHeader(cookies));
  return isFirst || asAdministrator;
}
