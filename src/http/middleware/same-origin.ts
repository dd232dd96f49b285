/** Protection against cross-site request forgery. */
import type { Context, Middleware, Next } from 'koa';
import { ServiceError } from '../../runtime/errors.ts';
import type { State } from '../state.ts';

/** Browsers send `Origin` with every POST. */
export function requireSameOrigin(publicUrl: string | null): Middleware<State> {
  return async function sameOrigin(context: Context, next: Next) {
    const origin = context.get('Origin');
    const host = context.get('Host');
    const isSame = publicUrl === null ? matchesHost(origin, host) : origin === publicUrl;
    if (isSame) return next();
    const expected = publicUrl ?? `the service's own address (${host})`;
    throw new ServiceError(
      'forbidden',
      `Expected ${expected} for \`Origin\`, got ${origin === '' ? 'nothing' : origin}`,
    );
  };
}

/** Ignores the scheme, which is unknown without UNDERTONE_PUBLIC_URL: a proxy may terminate TLS. */
function matchesHost(origin: string, host: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  const target = `${url.protocol}//${host}`;
  return url.origin === origin && URL.canParse(target) && new URL(target).origin === origin;
}
