/** Authentication and scopes, decided from the headers. */
import type { Context, Middleware, Next } from 'koa';
import type { RateLimiterFactory, RateLimitResult } from '../auth/rate-limits.ts';
import type { Principal, Scope, Tokens } from '../auth/tokens.ts';
import type { Config, Rate } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { networkOf } from '../network.ts';
import type { State } from './context.ts';
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

// Rate limits by token and by address, applied before the body is read.

type RateLimits = ReturnType<typeof createRateLimits>;

/** Supervisors and load balancers send many requests from one address. */
const unlimited: ReadonlySet<string> = new Set(['/health', '/ready']);

/** @param store null for the memory of this process */
export function createRateLimits(
  { addressRate, tokenRate }: Pick<Config, 'addressRate' | 'tokenRate'>,
  store: RateLimiterFactory | null,
) {
  const address = createLimit('address', addressRate, store);
  const token = createLimit('token', tokenRate, store);
  return {
    /** Before the token is verified, so that guesses count too. The address costs a system call. */
    address: async function limitAddress(context: Context, next: Next) {
      if (!unlimited.has(context.path)) await address(context, () => context.ip);
      return next();
    },
    /** @throws ServiceError `rate_limited` */
    token: (context: Context, id: string) => token(context, () => id),
  };
}

type Name = 'address' | 'token';
type Counter = (key: string) => Promise<RateLimitResult>;
type Limit = (context: Context, key: () => string) => Promise<void>;

function createLimit(name: Name, rate: Rate | null, store: RateLimiterFactory | null): Limit {
  if (rate === null) return async () => {};
  const policy = `"${name}";q=${rate.requests};w=${rate.seconds}`;
  let counter: Promise<Counter> | null = null;
  return async (context, key) => {
    counter ??= openCounter(name, rate, store);
    const { full, remaining, seconds } = await (await counter)(key());
    context.append('RateLimit-Policy', policy);
    context.append('RateLimit', `"${name}";r=${remaining};t=${seconds}`);
    setOlderNames(context, rate.requests, remaining, seconds);
    if (!full) return;
    const limit = `at most ${rate.requests} requests in ${rate.seconds} s from one ${name}`;
    throw new ServiceError('rate_limited', `Expected ${limit}, got more`, { retryAfterSeconds: seconds });
  };
}

/** The older names hold one limit: that with the fewest requests left. The reset is in seconds since 1970. */
function setOlderNames(context: Context, limit: number, remaining: number, seconds: number): void {
  const least = context.response.get('X-RateLimit-Remaining');
  if (least !== '' && Number(least) <= remaining) return;
  context.set({
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(Math.ceil(Date.now() / 1000) + seconds),
  });
}

/** Loads its module on the first request. */
async function openCounter(name: Name, rate: Rate, store: RateLimiterFactory | null): Promise<Counter> {
  const { consume, inMemory } = await import('../auth/rate-limits.ts');
  const counter = (store ?? inMemory)(`${name}-rate`, rate);
  return (key) => consume(counter, name === 'address' ? networkOf(key) : key);
}
