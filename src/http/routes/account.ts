/** What the account page and the playground ask for. Only here do cookies count. */
import { Router } from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import type { z } from 'zod';
import type { Accounts, AuthenticatedRequest } from '../../auth/accounts.ts';
import { TokenError, type TokenRecord } from '../../auth/tokens.ts';
import { notLoggedIn, UserError } from '../../auth/user-errors.ts';
import type { Session } from '../../auth/users.ts';
import type { Config } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';
import {
  accountRules,
  invalidField,
  logInBody,
  passwordBody,
  removeBody,
  signUpBody,
  tokenBody,
} from '../body/account-body.ts';
import type { ReadJson } from '../body/json.ts';
import { requireKnownHost } from '../middleware/host.ts';
import { requireSameOrigin } from '../middleware/same-origin.ts';
import type { State } from '../state.ts';

const dayMs = 86_400_000;

export type AccountRouteOptions = {
  readonly accounts: Accounts;
  readonly config: Pick<Config, 'publicUrl' | 'host'>;
  readonly readJson: ReadJson;
};

export function createAccountRoutes({ accounts, config, readJson }: AccountRouteOptions): Router<State> {
  const router = new Router<State>({ strict: true, sensitive: true, prefix: '/account/api' });
  router.use(requireKnownHost(config), mapUserErrors());
  const ownOrigin = requireSameOrigin(config.publicUrl);
  const read: Read = (context, schema) => readJson(context, schema, accountRules);
  addSessionRoutes(router, accounts, ownOrigin, read);
  addTokenRoutes(router, accounts, ownOrigin, read);
  return router;
}

type Read = <Schema extends z.ZodType>(context: Context, schema: Schema) => Promise<z.output<Schema>>;

function addSessionRoutes(
  router: Router<State>,
  accounts: Accounts,
  ownOrigin: Middleware<State>,
  read: Read,
): void {
  const show = async (context: Context, session: Session | null) => {
    setCookies(context, session?.cookies ?? []);
    const administrator = session !== null && (await accounts.isAdministrator(session));
    const user = session === null ? null : { email: session.email, administrator };
    send(context, { user, sign_up: await accounts.signUpState() });
  };
  router.get('/session', async function session(context) {
    await show(context, await accounts.authenticate(context.get('Cookie')));
  });
  router.post('/sign-up', ownOrigin, async function signUp(context) {
    await show(context, await accounts.signUp(await read(context, signUpBody), context.ip));
  });
  router.post('/log-in', ownOrigin, async function logIn(context) {
    const from = { cookie: context.get('Cookie'), address: context.ip };
    await show(context, await accounts.logIn(await read(context, logInBody), from));
  });
  router.post('/log-out', ownOrigin, async function logOut(context) {
    setCookies(context, await accounts.logOut(context.get('Cookie')));
    send(context, {});
  });
  router.post('/password', ownOrigin, async function changePassword(context) {
    const request = await authenticate(accounts, context);
    const body = await read(context, passwordBody);
    const { current_password: current, new_password: next, revoke_tokens: revokeTokens } = body;
    setCookies(context, await accounts.changePassword({ current, next, revokeTokens }, request));
    send(context, {});
  });
  router.post('/remove', ownOrigin, async function remove(context) {
    const request = await authenticate(accounts, context);
    const { password } = await read(context, removeBody);
    setCookies(context, await accounts.remove(password, request));
    send(context, {});
  });
}

function addTokenRoutes(
  router: Router<State>,
  accounts: Accounts,
  ownOrigin: Middleware<State>,
  read: Read,
): void {
  router.get('/tokens', async function listTokens(context) {
    const { session } = await authenticate(accounts, context);
    const records = await accounts.tokens(session);
    send(context, { tokens: records.map((record) => toJson(record, session)) });
  });
  router.post('/tokens', ownOrigin, async function createToken(context) {
    const { session } = await authenticate(accounts, context);
    const { name, scopes, expires_in_days: days } = await read(context, tokenBody);
    const expiresAt = days === null ? null : new Date(Date.now() + days * dayMs);
    const { token, record } = await accounts.createToken(session, { name, scopes, expiresAt });
    send(context, { token, ...toJson(record, session) });
  });
  router.post('/tokens/:id/revoke', ownOrigin, async function revokeToken(context) {
    const { session } = await authenticate(accounts, context);
    if (!(await accounts.revokeToken(session, context.params.id ?? ''))) {
      throw new ServiceError('not_found', 'Expected the id of a live token of yours, got another');
    }
    send(context, {});
  });
  router.post('/playground-token', ownOrigin, async function playgroundToken(context) {
    const { session } = await authenticate(accounts, context);
    const { token, record } = await accounts.playgroundToken(session);
    send(context, { token, expires_at: record.expiresAt });
  });
}

/** @throws Failure `unauthenticated` */
async function authenticate(accounts: Accounts, context: Context): Promise<AuthenticatedRequest> {
  const cookie = context.get('Cookie');
  const session = await accounts.authenticate(cookie);
  if (session === null) throw notLoggedIn();
  setCookies(context, session.cookies);
  return { session, cookie, address: context.ip };
}

function toJson(record: TokenRecord, session: Session) {
  return {
    id: record.id,
    name: record.name,
    prefix: record.prefix,
    scopes: record.scopes,
    created_at: record.createdAt,
    expires_at: record.expiresAt,
    last_used_at: record.lastUsedAt,
    revoked_at: record.revokedAt,
    origin: record.owner === session.session.owner ? 'account' : 'command_line',
  };
}

function mapUserErrors(): Middleware<State> {
  return async function refusals(_context: Context, next: Next) {
    try {
      await next();
    } catch (error) {
      if (error instanceof TokenError) {
        const field = error.field === 'expiresAt' ? 'expires_in_days' : error.field;
        throw invalidField(field, error.message, error.taken ? 'taken' : undefined);
      }
      if (!(error instanceof UserError)) throw error;
      if (error.reason === 'taken') throw invalidField('email', error.message, 'taken');
      throw new ServiceError('unauthenticated', error.message);
    }
  };
}

function setCookies(context: Context, cookies: readonly string[]): void {
  if (cookies.length > 0) context.set('Set-Cookie', [...cookies]);
}

function send(context: Context, body: object): void {
  context.set({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  context.body = JSON.stringify(body);
}
