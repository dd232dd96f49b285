/** Operations of people on their accounts: combines users, sign-up, tokens and the login throttle. */

import { loadOnce } from '../../engine/index.ts';
import type { Database } from '../database.ts';
import type { DatabaseKind } from '../migrations.ts';
import { isAdministrator } from './administrators.ts';
import { type Credentials, notLoggedIn } from './credentials.ts';
import { createPlaygroundCodes, type PlaygroundCodes } from './playground-codes.ts';
import type { RateLimiterFactory } from './rate-limits.ts';
import { closed, createSignUp, type SignUpPolicy } from './sign-up.ts';
import type { NewToken, Owner, TokenInput, TokenRecord, Tokens } from './tokens.ts';
import type { AccountUsage, Usage } from './usage.ts';
import type { AccountSession, Cookies } from './users.ts';

/** Every function may throw ServiceError `storage_unavailable`, those with a password also `rate_limited`. */
export type Accounts = {
  /** `first`: no account exists yet, and sign-up closes with the first one. */
  signUpState(): Promise<SignUpPolicy>;
  /** Returns null without a valid session cookie. */
  authenticate(cookie: string): Promise<AccountSession | null>;
  /** @throws UserError `taken` @throws ServiceError `forbidden` when closed */
  signUp(credentials: Credentials, address: string): Promise<AccountSession>;
  /** Ends the previous session of the browser. @throws UserError `unknown` */
  logIn(credentials: Credentials, from: { cookie: string; address: string }): Promise<AccountSession>;
  logOut(cookie: string): Promise<Cookies>;
  /** `revokeTokens` also revokes every token of the account. @throws UserError `unknown` */
  changePassword(
    change: { current: string; next: string; revokeTokens: boolean },
    from: AuthenticatedRequest,
  ): Promise<Cookies>;
  /** Deletes the account and its tokens. @throws UserError `unknown` */
  remove(password: string, from: AuthenticatedRequest): Promise<Cookies>;
  isAdministrator(session: AccountSession): Promise<boolean>;
  /** Tokens of the account; for administrators also those of the command line. */
  tokens(session: AccountSession): Promise<TokenRecord[]>;
  /** Usage of the account's tokens, or of all tokens for administrators. */
  usage(session: AccountSession): Promise<AccountUsage>;
  /** @throws TokenError */
  createToken(session: AccountSession, request: TokenInput): Promise<NewToken>;
  /** Returns false for an unknown or revoked token. */
  revokeToken(session: AccountSession, id: string): Promise<boolean>;
  /** Creates a token with the scopes of analyses for 15 minutes, which is never listed. */
  playgroundToken(session: AccountSession): Promise<NewToken>;
  readonly playgroundCodes: PlaygroundCodes;
};

export type AuthenticatedRequest = {
  readonly session: AccountSession;
  readonly cookie: string;
  readonly address: string;
};

export type AccountOptions = {
  readonly database: Database;
  readonly kind: DatabaseKind;
  readonly tokens: Tokens;
  readonly usage: Usage;
  readonly secret: string;
  readonly signUp: SignUpPolicy;
  /** Sets the attribute Secure of cookies. */
  readonly secure: boolean;
  /** Null: attempts are counted in this process. */
  readonly rateLimiters: RateLimiterFactory | null;
};

export function createAccounts(options: AccountOptions): Accounts {
  const { database, tokens } = options;
  const throttle = loadOnce(async () =>
    (await import('./login-throttle.ts')).createLoginThrottle(options.rateLimiters ?? undefined),
  );
  const users = loadOnce(async () => (await import('./users.ts')).createUsers(options));
  const { state, create } = createSignUp(database, options.signUp);

  async function authenticate(cookie: string): Promise<AccountSession | null> {
    return hasSessionCookie(cookie) ? (await users()).currentSession(cookie) : null;
  }

  async function logOut(cookie: string): Promise<Cookies> {
    const login = await authenticate(cookie);
    if (login === null) return [];
    const cookies = await (await users()).logOut(cookie);
    tokens.forget(login.session.owner);
    return cookies;
  }

  /** Owners whose tokens the account manages. */
  async function ownersOf(login: AccountSession): Promise<readonly Owner[]> {
    const { owner } = login.session;
    return (await isAdministrator(database, owner)) ? [owner, null] : [owner];
  }

  return {
    signUpState: state,
    authenticate,
    logOut,
    async signUp(credentials, address) {
      if ((await state()) === 'closed') throw closed();
      await (await throttle()).signUp(address);
      const { signUp, delete: discard } = await users();
      return create({ create: () => signUp(credentials), discard });
    },
    async logIn(credentials, { cookie, address }) {
      const { logIn } = await users();
      const { password } = await throttle();
      const login = await password({ email: credentials.email, address }, () => logIn(credentials));
      await logOut(cookie);
      // The log-in may have ended the oldest session, and with it its token.
      tokens.forget(login.session.owner);
      return login;
    },
    async changePassword({ revokeTokens, ...passwords }, { session, cookie, address }) {
      const { changePassword } = await users();
      const { password } = await throttle();
      const cookies = await password({ email: session.email, address }, () =>
        changePassword(cookie, passwords),
      );
      tokens.forget(session.session.owner);
      if (revokeTokens) await tokens.revokeAllOf(session.session.owner);
      return cookies;
    },
    async remove(given, { session, cookie, address }) {
      const { remove } = await users();
      const { password } = await throttle();
      const cookies = await password({ email: session.email, address }, () => remove(cookie, given));
      tokens.forget(session.session.owner);
      return cookies;
    },
    isAdministrator: (login) => isAdministrator(database, login.session.owner),
    async tokens(login) {
      const lists = (await ownersOf(login)).map((owner) => tokens.list(owner));
      return (await Promise.all(lists)).flat();
    },
    async usage({ session: { owner } }) {
      return options.usage.ofTokens((await isAdministrator(database, owner)) ? 'all' : owner);
    },
    async createToken({ session }, request) {
      await (await throttle()).token(session.owner);
      return requireSession(await tokens.createFor(session.owner, request));
    },
    async revokeToken(login, id) {
      for (const owner of await ownersOf(login)) {
        if ((await tokens.revokeOf(owner, id)) !== null) return true;
      }
      return false;
    },
    async playgroundToken({ session }) {
      await (await throttle()).token(session.owner);
      return requireSession(await tokens.createForSession(session));
    },
    playgroundCodes: createPlaygroundCodes({ database, tokens }),
  };
}

/** @throws ServiceError when the session ended meanwhile */
function requireSession(token: NewToken | null): NewToken {
  if (token === null) throw notLoggedIn();
  return token;
}

/** Saves loading `users.ts` for requests without a session cookie. */
function hasSessionCookie(cookie: string): boolean {
  return /(^|[\s;])(__Secure-)?undertone\.session_token=./.test(cookie);
}
