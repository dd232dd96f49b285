/** Keeps other sites from acting with a visitor's cookies. */
import type { Context, Middleware, Next } from 'koa';
import { ServiceError } from '../../runtime/errors.ts';
import type { State } from '../state.ts';

/** Browsers name the page's origin in every request that changes something. */
export function requireSameOrigin(publicUrl: string | null): Middleware<State> {
  return async function ownOrigin(context: Context, next: Next) {
    const origin = context.get('Origin');
    const host = context.get('Host');
    const own = publicUrl === null ? matchesHost(origin, host) : origin === publicUrl;
    if (own) return next();
    const expected = publicUrl ?? `the service's own address (${host})`;
    throw new ServiceError(
      'forbidden',
      `Expected ${expected} for \`Origin\`, got ${origin === '' ? 'nothing' : origin}`,
    );
  };
}

/** Without a setting the scheme is unknown: a proxy may have ended TLS. */
function matchesHost(origin: string, host: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  const named = `${url.protocol}//${host}`;
  return url.origin === origin && URL.canParse(named) && new URL(named).origin === origin;
}
