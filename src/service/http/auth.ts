/** Authentication and scopes, decided from the headers. */
import type { Context, Middleware, Next } from 'koa';
import type { Principal, Scope, Tokens } from '../auth/tokens.ts';
import { ServiceError } from '../errors.ts';
import type { State } from './context.ts';
import type { RateLimits } from './rate-limits.ts';
import { setAccount } from './unread.ts';

/** The account whose share of memory and queue a request uses. Each operator token counts as an account. */
export function accountOf(principal: Principal | undefined): string {
  if (principal === undefined) throw new Error('Expected a path that needs a token');
  return principal.owner === null ? `token:${principal.id}` : `account:${principal.owner}`;
}

export type TokenVerifier = Pick<Tokens, 'verify'>;

export type AuthOptions = { readonly tokens: TokenVerifier; readonly limits: RateLimits };

const bearer = /^Bearer +([A-Za-z0-9\-._~+/]{1,512}=*) *$/i;

/** @throws ServiceError `unauthenticated` */
type Authenticate = (context: Context) => Promise<Principal>;

export function requireScopes(
  { tokens, limits }: AuthOptions,
  scopes: readonly Scope[],
  authenticate: Authenticate = (context) => verifyBearer(tokens, context.get('Authorization')),
): Middleware<State> {
  return async function authorize(context: Context, next: Next) {
    const principal = await authenticate(context);
    context.state.principal = principal;
    setAccount(context.res, accountOf(principal));
    await limits.token(context, principal.id);
    const missing = scopes.filter((scope) => !principal.scopes.includes(scope));
    if (missing.length > 0) {
      const expected = `scope ${missing.join(' and ')}`;
      throw new ServiceError(
        'forbidden',
        `Expected ${expected} for \`Authorization\`, got a token without it`,
      );
    }
    return next();
  };
}

export async function verifyBearer(tokens: TokenVerifier, header: string): Promise<Principal> {
  if (header === '') throw unauthorized('nothing');
  const token = bearer.exec(header)?.[1];
  if (token === undefined) throw unauthorized('something else');
  const principal = await tokens.verify(token);
  if (principal === null) throw unauthorized('one that is unknown, expired or revoked');
  return principal;
}

export function unauthorized(got: string): ServiceError {
  return new ServiceError('unauthenticated', `Expected a Bearer token for \`Authorization\`, got ${got}`);
}
