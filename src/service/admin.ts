/** Tokens and accounts without a running service: each call opens the database for one piece of work. */
import { grantAdmin, keepAsFirst } from './auth/administrators.ts';
import { type Credentials, email, newPassword, UserError } from './auth/credentials.ts';
import { randomBase62 } from './auth/token-format.ts';
import { createTokens, type Tokens } from './auth/tokens.ts';
import { type Database, databaseKind, withDatabase } from './database.ts';

export { allScopes, scopes } from './auth/token-format.ts';
export { TokenError } from './auth/token-input.ts';
export type { ListedToken, TokenRecord, Tokens } from './auth/tokens.ts';
export { type Credentials, email, newPassword, UserError };

export function withTokens(databaseUrl: string, work: (tokens: Tokens) => Promise<void>): Promise<void> {
  return withDatabase(databaseUrl, (database) => work(createTokens({ database, staticToken: null })));
}

/** @returns whether the account is an administrator, as the first one always is. @throws UserError `taken` */
export function createAccount(
  databaseUrl: string,
  credentials: Credentials,
  asAdministrator: boolean,
): Promise<boolean> {
  return withDatabase(databaseUrl, async (database) => {
    const { cookieHeader } = await import('./auth/users.ts');
    const users = await openUsers(database, databaseUrl);
    const { session, cookies } = await users.signUp(credentials);
    const isFirst = await keepAsFirst(database, session.owner);
    if (asAdministrator && !isFirst) await grantAdmin(database, session.owner);
    await users.logOut(cookieHeader(cookies));
    return isFirst || asAdministrator;
  });
}

/** Ends every log-in of the account. @returns false for an unknown address */
export function setPassword(
  databaseUrl: string,
  credentials: Credentials,
  revokeTokens: boolean,
): Promise<boolean> {
  return withDatabase(databaseUrl, async (database) => {
    const owner = await (await openUsers(database, databaseUrl)).setPassword(credentials);
    if (owner !== null && revokeTokens)
      await createTokens({ database, staticToken: null }).revokeAllOf(owner);
    return owner !== null;
  });
}

async function openUsers(database: Database, databaseUrl: string) {
  const { createUsers } = await import('./auth/users.ts');
  // Sessions created here never reach a browser, so the secret is not kept.
  const secret = randomBase62(40);
  return createUsers({ database, kind: databaseKind(databaseUrl), secret, secure: false });
}
