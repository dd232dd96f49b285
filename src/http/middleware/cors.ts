/** Lets pages of other sites that the operator named read what programs read; nothing about accounts, and no cookies. */
import cors from '@koa/cors';
import type { Context, Middleware, Next } from 'koa';

const shared = /^\/(v1\/.*|health|openapi\.json)$/;
const preflightSeconds = 600;

export function allowOrigins(origins: readonly string[]): Middleware {
  const answer = cors({
    // Without an origin the request goes on as if there were no such thing.
    origin: (context) => origins.find((origin) => origin === context.get('Origin')) ?? '',
    allowMethods: ['GET', 'HEAD', 'POST', 'DELETE'],
    allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'X-Request-Id'],
    exposeHeaders: ['X-Request-Id', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'Server-Timing'],
    maxAge: preflightSeconds,
    keepHeadersOnError: false,
  });
  return async function crossOrigin(context: Context, next: Next) {
    return shared.test(context.path) ? answer(context, next) : next();
  };
}
