/** Admits only clients on this machine that no proxy forwarded. */
import type { Context, Middleware, Next } from 'koa';
import { ServiceError } from '../errors.ts';
import { isLoopback } from '../network.ts';
import type { State } from './context.ts';

const forwardingHeaders = [
  'Forwarded',
  'Via',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Real-IP',
];

export function requireLoopback(): Middleware<State> {
  return async function loopback(context: Context, next: Next) {
    const header = forwardingHeaders.find((name) => context.req.headers[name.toLowerCase()] !== undefined);
    if (header === undefined && isLoopback(context.req.socket.remoteAddress ?? '')) return next();
    const got = header === undefined ? 'one from another address' : `one with the header ${header}`;
    throw new ServiceError('forbidden', `Expected a direct connection from a loopback address, got ${got}`);
  };
}
