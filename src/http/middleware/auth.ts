/** Who asks, and whether they may; decided from the headers alone. */
import type { Context, Middleware, Next } from 'koa';
import type { Scope } from '../../auth/tokens.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { State } from '../state.ts';
import type { RateLimits } from './rate-limit.ts';

/** Who a token belongs to and what it may do. */
export type Principal = {
  readonly id: string;
  /** The account's id; null for tokens of the operator. */
  readonly owner: string | null;
  readonly scopes: readonly string[];
};

/** Whose share of memory and places a request uses: tokens of one account share theirs, an operator's token has its own. */
export function accountOf(grant: Principal | undefined): string {
  if (grant === undefined) throw new Error('Expected a path that needs a token');
  return grant.owner === null ? `token:${grant.id}` : `account:${grant.owner}`;
}

/** Null when the token is unknown, expired or revoked. @throws Failure `storage_unavailable` */
export type TokenVerifier = { verify(token: string): Promise<Principal | null> };

/** What stands between a request and a path that needs a token. */
export type AuthOptions = { readonly tokens: TokenVerifier; readonly limits: RateLimits };

const bearer = /^Bearer +([A-Za-z0-9\-._~+/]{1,512}=*) *$/i;

export function requireScopes({ tokens, limits }: AuthOptions, scopes: readonly Scope[]): Middleware<State> {
  return async function authorize(context: Context, next: Next) {
    await limits.address(context);
    const grant = await identify(tokens, context.get('Authorization'));
    await limits.token(context, grant.id);
    context.state.grant = grant;
    const missing = scopes.filter((scope) => !grant.scopes.includes(scope));
    if (missing.length > 0) {
      const got = 'a token without it';
      throw new ServiceError(
        'forbidden',
        `Expected scope ${missing.join(' and ')} for \`Authorization\`, got ${got}`,
      );
    }
    return next();
  };
}

async function identify(tokens: TokenVerifier, header: string): Promise<Principal> {
  if (header === '') throw unauthorized('nothing');
  const token = bearer.exec(header)?.[1];
  if (token === undefined) throw unauthorized('something else');
  const grant = await tokens.verify(token);
  if (grant === null) throw unauthorized('one that is unknown, expired or revoked');
  return grant;
}

function unauthorized(got: string): ServiceError {
  return new ServiceError('unauthenticated', `Expected a Bearer token for \`Authorization\`, got ${got}`);
}
