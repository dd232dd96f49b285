/** CORS for the API routes; never for accounts, never with cookies. */
import cors from '@koa/cors';
import type { Context, Middleware, Next } from 'koa';

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
