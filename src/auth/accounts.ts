/** What a person may do with an account: the rules, above users, tokens and the guard. */

import type { Database, DatabaseKind } from '../db/database.ts';
import { isAdministrator } from './administrators.ts';
import type { RateLimiterFactory } from './rate-limiter.ts';
import { closed, createSignUp, type SignUpPolicy } from './sign-up.ts';
import type { NewToken, Owner, TokenInput, TokenRecord, Tokens } from './tokens.ts';
import { notLoggedIn } from './user-errors.ts';
import type { Cookies, Credentials, Session } from './users.ts';

/** Every function may throw Failure `storage_unavailable`, and those with a password `rate_limited`. */
export type Accounts = {
  /** `first`: there is no account yet, and sign-up closes with the first one. */
  signUpState(): Promise<SignUpPolicy>;
  /** Null when the cookie header names no session that lasts. */
  authenticate(cookie: string): Promise<Session | null>;
  /** @throws UserError `taken` @throws Failure `forbidden` when closed */
  signUp(credentials: Credentials, address: string): Promise<Session>;
  /** Ends the session that the browser had. @throws UserError `unknown` */
  logIn(credentials: Credentials, from: { cookie: string; address: string }): Promise<Session>;
  logOut(cookie: string): Promise<Cookies>;
  /** `revokeTokens`: with every token of the account. @throws UserError `unknown` */
  changePassword(
    change: { current: string; next: string; revokeTokens: boolean },
    from: AuthenticatedRequest,
  ): Promise<Cookies>;
  /** With its tokens. @throws UserError `unknown` */
  remove(password: string, from: AuthenticatedRequest): Promise<Cookies>;
  isAdministrator(login: Session): Promise<boolean>;
  /** An administrator's own, and those that were made on the command line. */
  tokens(login: Session): Promise<TokenRecord[]>;
  /** @throws TokenError */
  createToken(login: Session, request: TokenInput): Promise<NewToken>;
  /** False when the account has no such live token. */
  revokeToken(login: Session, id: string): Promise<boolean>;
  /** For 15 minutes, with every scope, never listed. */
  playgroundToken(login: Session): Promise<NewToken>;
};

/** A request of somebody who is logged in. */
export type AuthenticatedRequest = {
  readonly session: Session;
  readonly cookie: string;
  readonly address: string;
};

export type AccountOptions = {
  readonly database: Database;
  readonly kind: DatabaseKind;
  readonly tokens: Tokens;
  readonly secret: string;
  readonly signUp: SignUpPolicy;
  /** Cookies go over https alone. */
  readonly secure: boolean;
  /** Where attempts are counted; undefined: in this process. */
  readonly rateLimiters?: RateLimiterFactory | undefined;
};

export function createAccounts(options: AccountOptions): Accounts {
  const { database, tokens } = options;
  const guard = lazily(async () =>
    (await import('./login-throttle.ts')).createLoginThrottle(options.rateLimiters),
  );
  const users = lazily(async () => (await import('./users.ts')).createUsers(options));
  const { state, create } = createSignUp(database, options.signUp);

  async function authenticate(cookie: string): Promise<Session | null> {
    return namesSession(cookie) ? (await users()).currentSession(cookie) : null;
  }

  async function logOut(cookie: string): Promise<Cookies> {
    const login = await authenticate(cookie);
    if (login === null) return [];
    const cookies = await (await users()).logOut(cookie);
    tokens.forget(login.session.owner);
    return cookies;
  }

  /** Whose tokens an account sees to. */
  async function ownersOf(login: Session): Promise<readonly Owner[]> {
    const { owner } = login.session;
    return (await isAdministrator(database, owner)) ? [owner, null] : [owner];
  }

  return {
    signUpState: state,
    authenticate,
    logOut,
    async signUp(credentials, address) {
      if ((await state()) === 'closed') throw closed();
      await (await guard()).signUp(address);
      const { signUp, delete: discard } = await users();
      return create({ create: () => signUp(credentials), discard });
    },
    async logIn(credentials, { cookie, address }) {
      const { logIn } = await users();
      const { password } = await guard();
      const login = await password({ email: credentials.email, address }, () => logIn(credentials));
      await logOut(cookie);
      // The oldest session, and what it held, may have ended.
      tokens.forget(login.session.owner);
      return login;
    },
    async changePassword({ revokeTokens, ...passwords }, { session, cookie, address }) {
      const { changePassword } = await users();
      const { password } = await guard();
      const cookies = await password({ email: session.email, address }, () =>
        changePassword(cookie, passwords),
      );
      tokens.forget(session.session.owner);
      if (revokeTokens) await tokens.revokeAllOf(session.session.owner);
      return cookies;
    },
    async remove(given, { session, cookie, address }) {
      const { remove } = await users();
      const { password } = await guard();
      const cookies = await password({ email: session.email, address }, () => remove(cookie, given));
      tokens.forget(session.session.owner);
      return cookies;
    },
    isAdministrator: (login) => isAdministrator(database, login.session.owner),
    async tokens(login) {
      const lists = (await ownersOf(login)).map((owner) => tokens.list(owner));
      return (await Promise.all(lists)).flat();
    },
    async createToken({ session }, request) {
      await (await guard()).token(session.owner);
      return requireSession(await tokens.createFor(session.owner, request));
    },
    async revokeToken(login, id) {
      for (const owner of await ownersOf(login)) {
        if ((await tokens.revokeOf(owner, id)) !== null) return true;
      }
      return false;
    },
    async playgroundToken({ session }) {
      await (await guard()).token(session.owner);
      return requireSession(await tokens.createForSession(session));
    },
  };
}

/** The session ended between the look at it and the token. */
function requireSession(made: NewToken | null): NewToken {
  if (made === null) throw notLoggedIn();
  return made;
}

/** Without a cookie of ours nothing has to be loaded to know the answer. */
function namesSession(cookie: string): boolean {
  return /(^|[\s;])(__Secure-)?undertone\.session_token=./.test(cookie);
}

function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | null = null;
  return () => {
    loaded ??= load();
    return loaded;
  };
}
