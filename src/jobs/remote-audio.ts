/** Recordings given by URL: validation and download. */
import type { JobSettings } from '../runtime/config.ts';
import { invalidPart, type ServiceError } from '../runtime/errors.ts';
import { ReservationError, SizeError, sendRequest } from './http-client.ts';
import { AddressError, isAllowedHost } from './public-address.ts';
import { isBelowAny, parsePlainUrl, parsePrefix, type UrlPrefix } from './url-prefix.ts';

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

/** Returns null, or the expectation for an error message. */
export function checkAudioUrl(text: string, { urlPrefixes, privateHosts }: Rules): string | null {
  const url = parsePlainUrl(text);
  const allowed =
    url !== null && isBelowAny(url, parsedPrefixes(urlPrefixes)) && isAllowedHost(url, privateHosts);
  return allowed
    ? null
    : `addresses that begin with ${urlPrefixes.join(' or ')}, with no dot segment, encoded slash or second encoding`;
}

/** Returns null, or the expectation for an error message. */
export function checkCallbackUrl(text: string, { privateHosts }: Pick<Rules, 'privateHosts'>): string | null {
  const url = text.length <= 2048 ? parsePlainUrl(text) : null;
  const allowed =
    url !== null &&
    (url.protocol === 'https:' || privateHosts.includes(url.hostname)) &&
    isAllowedHost(url, privateHosts);
  return allowed ? null : 'an https address on a public host';
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
