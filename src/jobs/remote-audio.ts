/** Recordings that lie somewhere else: which addresses are taken, and how one is fetched. */
import type { JobSettings } from '../runtime/config.ts';
import { invalidPart, type ServiceError } from '../runtime/errors.ts';
import { ReservationError, SizeError, sendRequest } from './http-client.ts';
import { AddressError, isAllowedHost } from './public-address.ts';
import { isBelowAny, parsePlainUrl, parsePrefix, type UrlPrefix } from './url-prefix.ts';

type Rules = Pick<JobSettings, 'urlPrefixes' | 'privateHosts' | 'maxBytes' | 'uploadSeconds'>;

/** A fetch that may work later. */
export class UnreachableError extends Error {}

/** Prefixes of a configuration, parsed once. */
const parsed = new WeakMap<readonly string[], readonly UrlPrefix[]>();

function parsedPrefixes(urlPrefixes: readonly string[]): readonly UrlPrefix[] {
  const known = parsed.get(urlPrefixes);
  if (known !== undefined) return known;
  const prefixes = urlPrefixes.map(parsePrefix).filter((prefix) => prefix !== null);
  parsed.set(urlPrefixes, prefixes);
  return prefixes;
}

/** Null, or what was expected instead. */
export function checkAudioUrl(text: string, { urlPrefixes, privateHosts }: Rules): string | null {
  const url = parsePlainUrl(text);
  const allowed =
    url !== null && isBelowAny(url, parsedPrefixes(urlPrefixes)) && isAllowedHost(url, privateHosts);
  return allowed
    ? null
    : `addresses that begin with ${urlPrefixes.join(' or ')}, with no dot segment, encoded slash or second encoding`;
}

/** Null, or what was expected instead. */
export function checkCallbackUrl(text: string, { privateHosts }: Pick<Rules, 'privateHosts'>): string | null {
  const url = text.length <= 2048 ? parsePlainUrl(text) : null;
  const allowed =
    url !== null &&
    (url.protocol === 'https:' || privateHosts.includes(url.hostname)) &&
    isAllowedHost(url, privateHosts);
  return allowed ? null : 'an https address on a public host';
}

/** @throws Failure for what will not come, UnreachableError for what may come later, ReservationError */
export async function fetchAudio(
  url: string,
  rules: Rules,
  stop: AbortSignal,
  reserve: (bytes: number) => boolean = () => true,
): Promise<Uint8Array> {
  const { privateHosts, maxBytes, uploadSeconds } = rules;
  const wrong = checkAudioUrl(url, rules);
  if (wrong !== null) throw unreachable(`Expected ${wrong}, got another`);
  const limits = { privateHosts, maxBytes, seconds: uploadSeconds, stop, reserve };
  const got = await sendRequest({ method: 'GET', url, ...limits }).catch((error: Error) => {
    if (error instanceof ReservationError) throw error;
    if (error instanceof SizeError) throw tooLarge(error.message);
    if (error instanceof AddressError) throw unreachable(error.message);
    throw new UnreachableError(`Expected a recording at the address, got ${error.message}`);
  });
  if (got.status === 200) return new Uint8Array(got.body.buffer, got.body.byteOffset, got.body.length);
  const message = `Expected 200 from the address, got ${got.status}`;
  if (got.status >= 500 || got.status === 429) throw new UnreachableError(message);
  throw unreachable(message);
}

export function unreachable(message: string): ServiceError {
  return invalidPart('url', 'url.unreachable', message);
}

export function tooLarge(message: string): ServiceError {
  return invalidPart('audio', 'audio.too_large', message);
}
