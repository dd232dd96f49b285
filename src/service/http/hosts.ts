/** Checks of the Host header: exactly one per request, and a known one on paths that use cookies. */
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import type { Context, Middleware, Next } from 'koa';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { State } from './context.ts';

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

/** Names, in lower case, that are allowed in addition to IP addresses: a third party cannot rebind them. */
export function hostsOf({ publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>): ReadonlySet<string> {
  const publicHost = publicUrl === null ? [] : [new URL(publicUrl).hostname];
  return new Set(['localhost', host.toLowerCase(), ...publicHost]);
}

/** @param host value of the header; its port is ignored */
export function isKnownHost(host: string, known: ReadonlySet<string>): boolean {
  const [, address = '', name = ''] = authority.exec(host) ?? [];
  return isIPv6(address) || isIP(name) === 4 || known.has(name.toLowerCase().replace(/\.$/, ''));
}
