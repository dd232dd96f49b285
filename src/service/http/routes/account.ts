/** The routes of the account page and the playground: the only ones that read cookies. */
import type { Router } from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import type { z } from 'zod';
import {
  logInBody,
  passwordBody,
  playgroundCodeBody,
  removeBody,
  signUpBody,
  tokenBody,
} from '../../api/account-schemas.ts';
import type { Accounts, AuthenticatedRequest } from '../../auth/accounts.ts';
import { notLoggedIn, UserError } from '../../auth/credentials.ts';
import { TokenError, type TokenRecord } from '../../auth/tokens.ts';
import type { AccountSession } from '../../auth/users.ts';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { State } from '../context.ts';
import { requireKnownHost } from '../hosts.ts';
import { createBodyRules, type ReadJson } from '../json.ts';
import { requireLoopback } from '../loopback.ts';
import { requireSameOrigin } from '../origins.ts';
import { sendPrivateJson } from '../responses.ts';
import { toUsageJson } from './usage.ts';

const prefix = '/account/api';
const dayMs = 86_400_000;
const bodyRules = createBodyRules(16_384, (kind) => kind);

export type AccountRouteOptions = {
  readonly accounts: Accounts;
  readonly config: Pick<Config, 'publicUrl' | 'host'>;
  readonly readJson: ReadJson;
};

export function addAccountRoutes(router: Router<State>, options: AccountRouteOptions): void {
  const { accounts, config, readJson } = options;
  const base = [requireKnownHost(config), mapUserErrors()] as const;
  const routes: Routes = {
    accounts,
    get: (path, handler) => router.get(`${prefix}${path}`, ...base, handler),
    post: (path, ...handlers) => router.post(`${prefix}${path}`, ...base, sameOrigin, ...handlers),
    read: (context, schema) => readJson(context, schema, bodyRules),
  };
  const sameOrigin = requireSameOrigin(config.publicUrl);
  addSessionRoutes(routes);
  addTokenRoutes(routes);
}

type Routes = {
  readonly accounts: Accounts;
  get(path: string, handler: Middleware<State>): void;
  post(path: string, ...handlers: readonly Middleware<State>[]): void;
  read<Schema extends z.ZodType>(context: Context, schema: Schema): Promise<z.output<Schema>>;
};

function addSessionRoutes({ accounts, get, post, read }: Routes): void {
  const show = async (context: Context, session: AccountSession | null) => {
    setCookies(context, session?.cookies ?? []);
    const administrator = session !== null && (await accounts.isAdministrator(session));
    const user = session === null ? null : { email: session.email, administrator };
    sendPrivateJson(context, { user, sign_up: await accounts.signUpState() });
  };
  get('/session', async function session(context: Context) {
    await show(context, await accounts.authenticate(context.get('Cookie')));
  });
  post('/sign-up', async function signUp(context: Context) {
    await show(context, await accounts.signUp(await read(context, signUpBody), context.ip));
  });
  post('/log-in', async function logIn(context: Context) {
    const from = { cookie: context.get('Cookie'), address: context.ip };
    await show(context, await accounts.logIn(await read(context, logInBody), from));
  });
  post('/log-out', async function logOut(context: Context) {
    setCookies(context, await accounts.logOut(context.get('Cookie')));
    sendPrivateJson(context, {});
  });
  post('/password', async function changePassword(context: Context) {
    const request = await authenticate(accounts, context);
    const body = await read(context, passwordBody);
    const { current_password: current, new_password: next, revoke_tokens: revokeTokens } = body;
    setCookies(context, await accounts.changePassword({ current, next, revokeTokens }, request));
    sendPrivateJson(context, {});
  });
  post('/remove', async function removeAccount(context: Context) {
    const request = await authenticate(accounts, context);
    const { password } = await read(context, removeBody);
    setCookies(context, await accounts.remove(password, request));
    sendPrivateJson(context, {});
  });
}

function addTokenRoutes({ accounts, get, post, read }: Routes): void {
  get('/tokens', async function listTokens(context: Context) {
    const { session } = await authenticate(accounts, context);
    const records = await accounts.tokens(session);
    sendPrivateJson(context, { tokens: records.map((record) => toJson(record, session)) });
  });
  get('/usage', async function listUsage(context: Context) {
    const { session } = await authenticate(accounts, context);
    sendPrivateJson(context, toUsageJson(await accounts.usage(session)));
  });
  post('/tokens', async function createToken(context: Context) {
    const { session } = await authenticate(accounts, context);
    const { name, scopes, expires_in_days: days, purpose } = await read(context, tokenBody);
    const expiresAt = days === null ? null : new Date(Date.now() + days * dayMs);
    const { token, record } = await accounts.createToken(session, { name, scopes, expiresAt, purpose });
    sendPrivateJson(context, { token, ...toJson(record, session) });
  });
  post('/tokens/:id/revoke', async function revokeToken(context: Context) {
    const { session } = await authenticate(accounts, context);
    if (!(await accounts.revokeToken(session, context.params.id ?? ''))) {
      throw new ServiceError('not_found', 'Expected the id of a live token of yours, got another');
    }
    sendPrivateJson(context, {});
  });
  post('/playground-token', async function playgroundToken(context: Context) {
    const { session } = await authenticate(accounts, context);
    const { token, record } = await accounts.playgroundToken(session);
    sendPrivateJson(context, { token, expires_at: record.expiresAt });
  });
  post('/playground-link', requireLoopback(), async function playgroundLink(context: Context) {
    const { code } = await read(context, playgroundCodeBody);
    const created = await accounts.playgroundCodes.redeem(code);
    if (created === null) throw unknownCode();
    sendPrivateJson(context, { token: created.token, expires_at: created.record.expiresAt });
  });
}

function unknownCode(): ServiceError {
  const expected = 'an unused code of the last 10 minutes';
  return new ServiceError(
    'unauthenticated',
    `Expected ${expected} for \`code\`, got another: start the service again for a new link`,
  );
}

/** @throws ServiceError `unauthenticated` */
async function authenticate(accounts: Accounts, context: Context): Promise<AuthenticatedRequest> {
  const cookie = context.get('Cookie');
  const session = await accounts.authenticate(cookie);
  if (session === null) throw notLoggedIn();
  setCookies(context, session.cookies);
  return { session, cookie, address: context.ip };
}

function toJson(record: TokenRecord, session: AccountSession) {
  return {
    id: record.id,
    name: record.name,
    prefix: record.prefix,
    scopes: record.scopes,
    purpose: record.purpose,
    created_at: record.createdAt,
    expires_at: record.expiresAt,
    last_used_at: record.lastUsedAt,
    revoked_at: record.revokedAt,
    origin: record.owner === session.session.owner ? 'account' : 'command_line',
  };
}

function mapUserErrors(): Middleware<State> {
  return async function userErrors(_context: Context, next: Next) {
    try {
      await next();
    } catch (error) {
      if (error instanceof TokenError) {
        const field = error.field === 'expiresAt' ? 'expires_in_days' : error.field;
        throw invalidField(field, error.message, error.taken ? `${field}.taken` : field);
      }
      if (!(error instanceof UserError)) throw error;
      if (error.reason === 'taken') throw invalidField('email', error.message, 'email.taken');
      throw new ServiceError('unauthenticated', error.message);
    }
  };
}

/** @param reason the field, or `FIELD.taken` for a value in use */
function invalidField(field: string, message: string, reason = field): ServiceError {
  return new ServiceError('invalid', message, { problems: [{ where: 'body', field, reason, message }] });
}

function setCookies(context: Context, cookies: readonly string[]): void {
  if (cookies.length > 0) context.set('Set-Cookie', [...cookies]);
}
