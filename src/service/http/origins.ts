/** Which origins may send a request: protection against cross-site request forgery, and CORS. */
import cors from '@koa/cors';
import type { Context, Middleware, Next } from 'koa';
import { ServiceError } from '../errors.ts';
import type { State } from './context.ts';

/** Browsers send `Origin` with every POST. */
export function requireSameOrigin(publicUrl: string | null): Middleware<State> {
  return async function sameOrigin(context: Context, next: Next) {
    const origin = context.get('Origin');
    const host = context.get('Host');
    if (isSameOrigin(origin, host, publicUrl)) return next();
    throw wrongOrigin(origin, host, publicUrl);
  };
}

/** Permits clients other than browsers, the service's own pages and `origins`: browsers do not protect WebSockets. */
export function requireKnownOrigin(publicUrl: string | null, origins: readonly string[]): Middleware<State> {
  return async function knownOrigin(context: Context, next: Next) {
    const origin = context.get('Origin');
    const host = context.get('Host');
    if (origin === '' || origins.includes(origin) || isSameOrigin(origin, host, publicUrl)) return next();
    throw wrongOrigin(origin, host, publicUrl);
  };
}

function isSameOrigin(origin: string, host: string, publicUrl: string | null): boolean {
  return publicUrl === null ? matchesHost(origin, host) : origin === publicUrl;
}

function wrongOrigin(origin: string, host: string, publicUrl: string | null): ServiceError {
  const expected = publicUrl ?? `the service's own address (${host})`;
  const got = origin === '' ? 'nothing' : origin;
  return new ServiceError('forbidden', `Expected ${expected} for \`Origin\`, got ${got}`);
}

/** Ignores the scheme, which is unknown without UNDERTONE_PUBLIC_URL: a proxy may terminate TLS. */
function matchesHost(origin: string, host: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  const target = `${url.protocol}//${host}`;
  return url.origin === origin && URL.canParse(target) && new URL(target).origin === origin;
}

// CORS for the API routes; never for accounts, never with cookies.

const apiPath = /^\/(v1\/.*|health|openapi\.json|asyncapi\.json)$/;
const preflightSeconds = 600;

export function allowOrigins(origins: readonly string[]): Middleware {
  const handleCors = cors({
    // An empty origin sends no CORS headers.
    origin: (context) => origins.find((origin) => origin === context.get('Origin')) ?? '',
    allowMethods: ['GET', 'HEAD', 'POST', 'DELETE'],
    allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'X-Request-Id', 'traceparent'],
    exposeHeaders: [
      'X-Request-Id',
      'Location',
      'Retry-After',
      'RateLimit',
      'RateLimit-Policy',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'Server-Timing',
      'traceparent',
    ],
    maxAge: preflightSeconds,
    keepHeadersOnError: false,
  });
  return async function crossOrigin(context: Context, next: Next) {
    return apiPath.test(context.path) ? handleCors(context, next) : next();
  };
}
