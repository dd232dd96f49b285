/** Who may send a request: hosts, origins and loopback; and the security headers of responses. */
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import cors from '@koa/cors';
import type { Context, Middleware, Next } from 'koa';
import helmet from 'koa-helmet';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { isLoopback } from '../network.ts';
import type { State } from './context.ts';

// Checks of the Host header: exactly one per request, and a known one on paths that use cookies.

/** RFC 3986, section 3.2: an IPv6 address in brackets or a name, then a port. */
const authority = /^(?:\[([0-9A-Fa-f:.]+)\]|([\w.~!$&'()*+,;=%-]*))(?::\d{0,5})?$/;
const absoluteTarget = /^https?:\/\/([^/?#]*)/i;

/** RFC 9112, section 3.2. Node's own check (`requireHostHeader`) sends no body and accepts repeated headers. */
export function requireHost(): Middleware<State> {
  return async function host({ req }: Context, next: Next) {
    const count = countHosts(req);
    const isHttp10 = req.httpVersionMajor === 1 && req.httpVersionMinor === 0;
    if (count === 0 && !isHttp10)
      throw new ServiceError('bad_request', 'Expected the header `Host`, got none');
    if (count > 1) throw new ServiceError('bad_request', `Expected one header \`Host\`, got ${count}`);
    if (authority.test(req.headers.host ?? '')) return next();
    throw new ServiceError('bad_request', 'Expected HOST or HOST:PORT for `Host`, got something else');
  };
}

function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'host') count++;
  }
  return count;
}

/**
 * Prevents DNS rebinding: a foreign name that resolves to this service would share its origin. X-Forwarded-Host is
 * ignored, since every client can set it.
 */
export function requireKnownHost(config: Pick<Config, 'publicUrl' | 'host'>): Middleware<State> {
  const known = hostsOf(config);
  return async function knownHost({ req }: Context, next: Next) {
    const target = absoluteTarget.exec(req.url ?? '')?.[1];
    const hosts = [req.headers.host ?? '', ...(target === undefined ? [] : [target])];
    const unknown = hosts.find((host) => !isKnownHost(host, known));
    if (unknown === undefined) return next();
    throw new ServiceError(
      'misdirected',
      `Expected localhost, an IP address or the host of UNDERTONE_PUBLIC_URL for \`Host\`, got ${JSON.stringify(unknown)}: set UNDERTONE_PUBLIC_URL to the address that browsers use`,
    );
  };
}

/** Names, in lower case, that are allowed beside IP addresses: a third party cannot rebind them. */
export function hostsOf({ publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>): ReadonlySet<string> {
  const publicHost = publicUrl === null ? [] : [new URL(publicUrl).hostname];
  return new Set(['localhost', host.toLowerCase(), ...publicHost]);
}

/** @param host value of the header; its port is ignored */
export function isKnownHost(host: string, known: ReadonlySet<string>): boolean {
  const [, address = '', name = ''] = authority.exec(host) ?? [];
  return isIPv6(address) || isIP(name) === 4 || known.has(name.toLowerCase().replace(/\.$/, ''));
}

// Protection against cross-site request forgery.

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

// Admits only clients on this machine that no proxy forwarded.

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

// Helmet's security headers, computed once: they are the same for every response.

/** @param https adds Strict-Transport-Security, which would lock browsers out of a plain HTTP service */
export function securityHeaders(https: boolean): Middleware {
  const headers = computeHeaders(https);
  return async function security(context: Context, next: Next) {
    for (const [name, value] of headers) context.res.setHeader(name, value);
    return next();
  };
}

/** Helmet sets all headers synchronously. */
function computeHeaders(https: boolean): readonly (readonly [name: string, value: string])[] {
  const headers: [string, string][] = [];
  const setHeaders = helmet({
    strictTransportSecurity: https,
    contentSecurityPolicy: { directives: { upgradeInsecureRequests: https ? [] : null } },
  });
  const setHeader = (name: string, value: string) => headers.push([name, value]);
  const res = { setHeader, removeHeader: () => {} };
  void setHeaders({ req: {}, res } as unknown as Context, async () => {});
  return headers;
}
