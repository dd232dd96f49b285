/** Recordings given by URL: validation and download. */

import { lookup as resolveName } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { JobSettings } from '../config.ts';
import { invalidPart, ServiceError } from '../errors.ts';

type Rules = Pick<JobSettings, 'urlPrefixes' | 'privateHosts' | 'maxBytes' | 'uploadSeconds'>;

/** A later attempt may succeed. */
export class RetryableFetchError extends Error {}

/** Parsed once per configuration. */
const parsed = new WeakMap<readonly string[], readonly UrlPrefix[]>();

function parsedPrefixes(urlPrefixes: readonly string[]): readonly UrlPrefix[] {
  const cached = parsed.get(urlPrefixes);
  if (cached !== undefined) return cached;
  const prefixes = urlPrefixes.map(parsePrefix).filter((prefix) => prefix !== null);
  parsed.set(urlPrefixes, prefixes);
  return prefixes;
}

const allowedHosts = 'a public host, or a host of `UNDERTONE_JOB_PRIVATE_HOSTS`';

/** Returns null, or the expectation for an error message. */
export function checkAudioUrl(text: string, { urlPrefixes, privateHosts }: Rules): string | null {
  const url = parsePlainUrl(text);
  if (url === null || !isBelowAny(url, parsedPrefixes(urlPrefixes)))
    return `addresses that begin with ${urlPrefixes.join(' or ')}, with no dot segment, encoded slash or second encoding`;
  return isAllowedHost(url, privateHosts) ? null : `an address on ${allowedHosts}`;
}

/** Returns null, or the expectation for an error message. */
export function checkCallbackUrl(text: string, { privateHosts }: Pick<Rules, 'privateHosts'>): string | null {
  const url = text.length <= 2048 ? parsePlainUrl(text) : null;
  const allowed =
    url !== null &&
    (url.protocol === 'https:' || privateHosts.includes(url.hostname)) &&
    isAllowedHost(url, privateHosts);
  return allowed ? null : `an https address on ${allowedHosts}`;
}

/** @throws RetryableFetchError when a retry may succeed, ServiceError when not, ReservationError */
export async function fetchAudio(
  url: string,
  rules: Rules,
  signal: AbortSignal,
  reserve: (bytes: number) => boolean = () => true,
): Promise<Uint8Array> {
  const { privateHosts, maxBytes, uploadSeconds } = rules;
  const expected = checkAudioUrl(url, rules);
  if (expected !== null) throw fetchFailed(`Expected ${expected}, got another`);
  const limits = { privateHosts, maxBytes, seconds: uploadSeconds, signal, reserve };
  const response = await sendRequest({ method: 'GET', url, ...limits }).catch((error: Error) => {
    if (error instanceof ReservationError) throw error;
    if (error instanceof SizeError) throw invalidPart('audio', 'audio.too_large', error.message);
    if (error instanceof AddressError) throw fetchFailed(error.message);
    throw new RetryableFetchError(error.message);
  });
  if (response.status === 200)
    return new Uint8Array(response.body.buffer, response.body.byteOffset, response.body.length);
  const message = `Expected 200 from the address, got ${response.status}`;
  if (response.status >= 500 || response.status === 429) throw new RetryableFetchError(message);
  throw fetchFailed(message);
}

export function fetchFailed(message: string): ServiceError {
  return invalidPart('url', 'url.unreachable', message);
}

// Requests to untrusted addresses: no redirects, no reused connections, bounded in time and size.

type HttpRequest = {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: AsyncIterable<string | Uint8Array>;
  readonly privateHosts: readonly string[];
  readonly seconds: number;
  readonly signal?: AbortSignal;
  /** Maximum length of the response body. Null: the body is not read. */
  readonly maxBytes: number | null;
  /** Called with the length of each chunk; false aborts the request. */
  readonly reserve?: (bytes: number) => boolean;
};

type HttpResponse = { readonly status: number; readonly body: Buffer };

class SizeError extends Error {}

/** `reserve` returned false. */
export class ReservationError extends Error {}

/** No connection, or one that did not last. The message names no host: messages are stored and logged. */
class ConnectionError extends Error {}

const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no address of the host',
  EAI_AGAIN: 'no answer of the name server',
  ECONNREFUSED: 'a refused connection',
  ECONNRESET: 'a closed connection',
  EPIPE: 'a closed connection',
  ETIMEDOUT: 'no answer in time',
  TimeoutError: 'no answer in time',
  AbortError: 'a cancelled request',
  CERT_HAS_EXPIRED: 'an expired certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'a certificate of another host',
};

/** @param ended aborted when the request ran out of time or was cancelled: then Node.js reports a lost connection */
function withoutHost(error: Error & { readonly code?: unknown }, ended: AbortSignal): Error {
  if ([AddressError, SizeError, ReservationError, ServiceError].some((kind) => error instanceof kind))
    return error;
  const code = String(ended.aborted ? ended.reason.name : (error.code ?? error.name));
  return new ConnectionError(`Expected an answer, got ${reasons[code] ?? `a failed connection (${code})`}`);
}

/** @throws AddressError, SizeError, ReservationError, ConnectionError, and a ServiceError of the body */
export async function sendRequest(request: HttpRequest): Promise<HttpResponse> {
  const signals = [AbortSignal.timeout(1000 * request.seconds), ...(request.signal ? [request.signal] : [])];
  const ended = AbortSignal.any(signals);
  try {
    return await exchange(request, ended);
  } catch (error) {
    throw withoutHost(error as Error, ended);
  }
}

async function exchange(request: HttpRequest, ended: AbortSignal): Promise<HttpResponse> {
  const url = new URL(request.url);
  if (!isAllowedHost(url, request.privateHosts)) throw new AddressError();
  const response = await send(url, request, ended);
  const { statusCode: status = 0, headers } = response;
  const { maxBytes, reserve } = request;
  if (maxBytes === null) {
    response.destroy();
    return { status, body: Buffer.alloc(0) };
  }
  const declared = Number(headers['content-length'] ?? 0);
  if (declared > maxBytes) {
    response.destroy();
    throw new SizeError(`Expected at most ${maxBytes} bytes, got ${declared}`);
  }
  return { status, body: await read(response, maxBytes, reserve) };
}

function send(url: URL, request: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const { method, headers = {}, body, privateHosts } = request;
    const lookup = checkedLookup(privateHosts);
    // An agent could reuse a connection that passed a different check.
    const sent = open(url, { method, headers, lookup, signal, agent: false }, resolve);
    sent.on('error', reject);
    if (body === undefined) sent.end();
    else pipeline(body, sent).catch(reject);
  });
}

async function read(
  response: IncomingMessage,
  maxBytes: number,
  reserve: HttpRequest['reserve'],
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) {
      response.destroy();
      throw new SizeError(`Expected at most ${maxBytes} bytes, got more`);
    }
    if (reserve?.(chunk.length) === false) {
      response.destroy();
      throw new ReservationError('Expected memory for the response, got none');
    }
    chunks.push(chunk);
  }
  // Not Buffer.concat: Node 22 cannot transfer a buffer of the shared pool to a thread.
  const body = Buffer.allocUnsafeSlow(length);
  chunks.reduce((at, chunk) => at + chunk.copy(body, at), 0);
  return body;
}

// Addresses that this service may connect to for a client: public ones, and hosts that the operator allows.

/** IANA IPv4 Special-Purpose Address Registry, and multicast. */
const ranges4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** Exceptions from global unicast, 2000::/3: protocol assignments with Teredo, documentation, 6to4. */
const ranges6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const private4 = toBlockList(ranges4, 'ipv4');
const private6 = toBlockList(ranges6, 'ipv6');
const global6 = toBlockList(['2000::/3'], 'ipv6');

/** The message names no host: messages are stored and logged. */
export class AddressError extends Error {
  constructor() {
    super('Expected a public address, got a private one');
  }
}

export function isPublic(address: string): boolean {
  if (!isIPv6(address)) return isIP(address) === 4 && !private4.check(address, 'ipv4');
  return global6.check(address, 'ipv6') && !private6.check(address, 'ipv6');
}

/** Checks literal addresses; `checkedLookup` checks names. */
function isAllowedHost({ hostname }: URL, privateHosts: readonly string[]): boolean {
  if (privateHosts.includes(hostname)) return true;
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(literal) === 0 ? !/(^|\.)localhost\.?$/.test(hostname) : isPublic(literal);
}

/** Resolves a name once and checks the addresses that are connected to: DNS rebinding has no effect. */
export function checkedLookup(privateHosts: readonly string[]): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(
      hostname,
      { family: options.family ?? 0, hints: options.hints ?? 0, all: true },
      (error, addresses) => {
        if (error) return callback(error, [], 0);
        const allowed =
          privateHosts.includes(hostname) || addresses.every(({ address }) => isPublic(address));
        if (!allowed) return callback(new AddressError(), [], 0);
        if (options.all) return callback(null, addresses);
        const [first] = addresses;
        callback(null, first?.address ?? '', first?.family);
      },
    );
  };
}

function toBlockList(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network, bits] = range.split('/') as [string, string];
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}

// Checks whether a URL is below a prefix for every server, however it decodes the path.

/** Scheme and host without a user. The URL parser silently corrects other spellings. */
const plainUrl = /^https?:\/\/[^/?#@\\]+(?:[/?#].*)?$/i;
/** Control characters and spaces, which the parser removes, and backslashes, which become slashes. */
const corrected = /[\0-\x20\x7f\\]/;

/** Returns null unless the text is a plain http or https URL. */
function parsePlainUrl(text: string): URL | null {
  return plainUrl.test(text) && !corrected.test(text) && URL.canParse(text) ? new URL(text) : null;
}

type UrlPrefix = { readonly origin: string; readonly folders: readonly string[] };

/** @param prefix ends in a slash @returns null when no URL can be below it */
function parsePrefix(prefix: string): UrlPrefix | null {
  const { origin, pathname } = new URL(prefix);
  const folders = decodeSegments(pathname)?.slice(0, -1);
  return folders === undefined ? null : { origin, folders };
}

function isBelowAny({ origin, pathname }: URL, prefixes: readonly UrlPrefix[]): boolean {
  const segments = decodeSegments(pathname);
  return (
    segments !== null && prefixes.some((prefix) => prefix.origin === origin && startsWith(segments, prefix))
  );
}

function startsWith(segments: readonly string[], { folders }: UrlPrefix): boolean {
  return segments.length > folders.length && folders.every((folder, index) => folder === segments[index]);
}

/** Decodes once. Returns null when further decoding, normalization or truncation by a server could change the path. */
function decodeSegments(pathname: string): readonly string[] | null {
  const segments = pathname.slice(1).split('/').map(decodeSegment);
  return segments.every((segment) => segment !== null) ? segments : null;
}

/** Separators, control characters and double encoding. */
const ambiguous = /[/\\\p{Cc}]|%[0-9a-f]{2}/iu;
/** Dot segments, also with spaces or path parameters, which some servers remove. */
const dots = /^[.\s]*(?:;|$)/;

/** Fast path: ASCII that every rule accepts and normalization does not change. */
const plainSegment = /^[\w~-][\w ~=&.-]*$/;

function decodeSegment(segment: string): string | null {
  if (segment === '') return segment;
  const decoded = decodeUtf8(segment);
  if (decoded === null) return null;
  if (plainSegment.test(decoded)) return decoded;
  const forms = [decoded, decoded.normalize('NFKC')];
  return forms.some((form) => ambiguous.test(form) || dots.test(form)) ? null : decoded;
}

function decodeUtf8(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
