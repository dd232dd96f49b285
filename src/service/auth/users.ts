/** Users and sessions by better-auth; loaded with the first account request. */
import { betterAuth } from 'better-auth';
import { APIError } from 'better-auth/api';
import { sql } from 'kysely';
import { type Database, databaseUnavailable, isOfDriver, runQuery } from '../database.ts';
import type { DatabaseKind } from '../migrations.ts';
import { maxSignUpMs } from './administrators.ts';
import { type Credentials, notLoggedIn, passwordLength, UserError } from './credentials.ts';

/** Values of Set-Cookie headers. */
export type Cookies = readonly string[];

export type AccountSession = {
  readonly session: { readonly id: string; readonly owner: string };
  readonly email: string;
  readonly cookies: Cookies;
};

const cookiePrefix = 'undertone';
const sessionSeconds = 7 * 86_400;
const refreshSeconds = 86_400;
/** Sessions per account; a log-in ends the oldest. */
const maxSessions = 20;

const reasons: Readonly<Record<string, UserError['reason']>> = {
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: 'taken',
  INVALID_EMAIL_OR_PASSWORD: 'unknown',
  INVALID_PASSWORD: 'unknown',
};

/** Returns the Cookie header for Set-Cookie values. */
export function cookieHeader(cookies: Cookies): string {
  return cookies.map((line) => line.split(';')[0]).join('; ');
}

/** `cookie` is the header of the request. Every function throws ServiceError `storage_unavailable`. */
export function createUsers(options: {
  readonly database: Database;
  readonly kind: DatabaseKind;
  readonly secret: string;
  /** Sets the attribute Secure of cookies. */
  readonly secure: boolean;
}) {
  const { database } = options;
  const { api, $context } = configure(options);
  const headersOf = (cookie: string) => new Headers({ cookie });
  const call = <T>(work: Promise<T>) => translate(database, work);

  async function currentSession(cookie: string): Promise<AccountSession | null> {
    const { headers, response } = await call(
      api.getSession({ headers: headersOf(cookie), returnHeaders: true }),
    );
    if (response === null) return null;
    const { session, user } = response;
    const cookies = headers.getSetCookie();
    return { session: { id: session.id, owner: user.id }, email: user.email, cookies };
  }

  /** Deletes expired sessions, which better-auth keeps until they are used. */
  async function sweep(): Promise<void> {
    const { adapter } = await $context;
    const where = [{ field: 'expiresAt', operator: 'lt', value: new Date() }] as const;
    await adapter.deleteMany({ model: 'session', where: [...where] });
  }

  async function endOldestSessions(owner: string): Promise<void> {
    const query = sql`delete from "session" where "userId" = ${owner} and "id" not in
      (select "id" from "session" where "userId" = ${owner} order by "createdAt" desc limit ${maxSessions})`;
    await runQuery(query.execute(database));
  }

  async function isTaken(email: string): Promise<boolean> {
    const query = database.selectFrom('user').select('id').where('email', '=', email.toLowerCase());
    return (await runQuery(query.executeTakeFirst())) !== undefined;
  }

  /** better-auth creates an account in several steps; an interrupted one has no password. */
  async function deleteIncomplete(email: string): Promise<void> {
    const before = new Date(Date.now() - maxSignUpMs);
    const query = sql`delete from "user" where "email" = ${email.toLowerCase()}
      and "createdAt" < ${options.kind === 'postgres' ? before : before.toISOString()}
      and not exists (select 1 from "account" where "account"."userId" = "user"."id")`;
    await runQuery(query.execute(database));
  }

  /** Returns the session of new cookies. */
  async function sessionIn(headers: Headers): Promise<AccountSession> {
    const cookies = headers.getSetCookie();
    const session = await currentSession(cookieHeader(cookies));
    if (session === null) throw new UserError('unknown');
    return { ...session, cookies };
  }

  return {
    currentSession,
    /** @throws UserError `taken` */
    async signUp(body: Credentials): Promise<AccountSession> {
      await deleteIncomplete(body.email);
      const signUp = api.signUpEmail({ body: { ...body, name: '' }, returnHeaders: true });
      // The table refuses the second of two parallel sign-ups, and better-auth reports another error.
      const { headers } = await call(signUp).catch(async (error: unknown) => {
        throw (await isTaken(body.email)) ? new UserError('taken') : error;
      });
      return sessionIn(headers);
    },
    /** Deletes the account of a failed sign-up. */
    async delete({ session }: AccountSession): Promise<void> {
      await runQuery(database.deleteFrom('user').where('id', '=', session.owner).execute());
    },
    /** @throws UserError `unknown` */
    async logIn(body: Credentials): Promise<AccountSession> {
      const { headers } = await call(api.signInEmail({ body, returnHeaders: true }));
      await call(sweep());
      const session = await sessionIn(headers);
      await endOldestSessions(session.session.owner);
      return session;
    },
    async logOut(cookie: string): Promise<Cookies> {
      const signOut = api.signOut({ headers: headersOf(cookie), returnHeaders: true });
      return (await call(signOut)).headers.getSetCookie();
    },
    /** Replaces every session by a new one. @throws UserError `unknown` */
    async changePassword(
      cookie: string,
      { current, next }: { readonly current: string; readonly next: string },
    ): Promise<Cookies> {
      const body = { currentPassword: current, newPassword: next, revokeOtherSessions: true };
      const changed = api.changePassword({ body, headers: headersOf(cookie), returnHeaders: true });
      return (await call(changed)).headers.getSetCookie();
    },
    /** Ends every session. Returns the id of the account, or null for an unknown address. */
    async setPassword({ email, password }: Credentials): Promise<string | null> {
      const query = sql<{ id: string }>`select "user"."id" from "user"
        join "account" on "account"."userId" = "user"."id" where "user"."email" = ${email.toLowerCase()}`;
      const id = (await runQuery(query.execute(database))).rows[0]?.id;
      if (id === undefined) return null;
      const { internalAdapter, password: passwords } = await $context;
      await call(internalAdapter.updatePassword(id, await passwords.hash(password)));
      await call(internalAdapter.deleteUserSessions(id));
      return id;
    },
    /** @throws UserError `unknown` */
    async remove(cookie: string, password: string): Promise<Cookies> {
      const deleted = api.deleteUser({ body: { password }, headers: headersOf(cookie), returnHeaders: true });
      return (await call(deleted)).headers.getSetCookie();
    },
  };
}

function configure({ database, kind, secret, secure }: Parameters<typeof createUsers>[0]) {
  return betterAuth({
    database: { db: database, type: kind },
    secret,
    baseURL: secure ? 'https://undertone.invalid' : 'http://undertone.invalid',
    emailAndPassword: {
      enabled: true,
      minPasswordLength: passwordLength.min,
      maxPasswordLength: passwordLength.max,
    },
    user: { deleteUser: { enabled: true } },
    session: { expiresIn: sessionSeconds, updateAge: refreshSeconds },
    advanced: {
      cookiePrefix,
      useSecureCookies: secure,
      // Path /account: analysis routes never receive a cookie.
      defaultCookieAttributes: { sameSite: 'strict', path: '/account', httpOnly: true },
      ipAddress: { disableIpTracking: true },
    },
    // The logger would print e-mail addresses.
    logger: { disabled: true },
    telemetry: { enabled: false },
  });
}

/** better-auth reports an unreachable database in many ways, some of which look like invalid input. */
async function translate<T>(database: Database, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const code = error instanceof APIError ? error.body?.code : undefined;
    await sql`select 1`.execute(database).catch((cause: unknown) => {
      throw databaseUnavailable(cause);
    });
    const reason = code === undefined ? undefined : reasons[code];
    if (reason !== undefined) throw new UserError(reason);
    if (code?.startsWith('FAILED_TO_') || isOfDriver(error)) throw databaseUnavailable(error);
    throw error instanceof APIError && error.status === 'UNAUTHORIZED' ? notLoggedIn() : error;
  }
}
