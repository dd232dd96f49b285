/** Recordings given by URL: validation and download. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describeRaw } from '../../node/audio-formats.ts';
import type { JobSettings } from '../config.ts';
import { invalidPart, type ServiceError } from '../errors.ts';
import type { Permit } from '../fair-share.ts';
import { mediaTypeOf } from '../multipart.ts';
import { ReservationError, SizeError, sendRequest, shareKeys } from './outgoing-request.ts';
import { AddressError, isAllowedHost } from './public-addresses.ts';
import type { QueueJob } from './queues.ts';
import type { WorkerContext } from './start-job.ts';
import { isBelowAny, parsedPrefixes, parsePlainUrl } from './url-prefixes.ts';

type Rules = Pick<JobSettings, 'urlPrefixes' | 'privateHosts' | 'maxBytes' | 'uploadSeconds'>;

/** A later attempt may succeed. */
export class RetryableFetchError extends Error {}

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

export type FetchedAudio = {
  readonly audio: Uint8Array;
  /** The raw format that the type or the name states; as `declared` of the task. */
  readonly declared: string | undefined;
};

/** @throws RetryableFetchError when a retry may succeed, ServiceError when not, ReservationError */
export async function fetchAudio(
  url: string,
  rules: Rules,
  signal: AbortSignal,
  reserve: (bytes: number) => boolean = () => true,
): Promise<FetchedAudio> {
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
  const { status, contentType, body } = response;
  if (status === 200) {
    const audio = new Uint8Array(body.buffer, body.byteOffset, body.length);
    return { audio, declared: describeRaw(mediaTypeOf(contentType), new URL(url).pathname) ?? undefined };
  }
  const message = `Expected 200 from the address, got ${status}`;
  if (status >= 500 || status === 429) throw new RetryableFetchError(message);
  throw fetchFailed(message);
}

function fetchFailed(message: string): ServiceError {
  return invalidPart('url', 'url.unreachable', message);
}

// Fetches the recording of a job. A slow download releases the analysis slot.

/** Downloads up to this long keep their slot and need no reservation. */
const slowAfterMs = 250;

type RemoteRecording = {
  readonly job: QueueJob;
  readonly owner: string;
  readonly url: string;
  readonly permit: Permit;
  readonly signal: AbortSignal;
};

/** @throws ReservationError at the share of the owner or the host, ServiceError when a retry is useless */
export async function fetchRecording(
  { config, fetchedBytes, slowFetches }: WorkerContext,
  { job, owner, url, permit, signal }: RemoteRecording,
): Promise<FetchedAudio> {
  const keys = shareKeys(owner, url);
  const [bytes, download] = [fetchedBytes.open(keys), slowFetches.open(keys)];
  const done = new AbortController();
  try {
    const fetching = fetchAudio(url, config.jobs, AbortSignal.any([signal, done.signal]), bytes.add);
    const fetched = await Promise.race([fetching, sleep(slowAfterMs, null)]);
    if (fetched !== null) return fetched;
    if (!download.add(1)) throw new ReservationError('Expected a free slow download, got none');
    return await permit.releaseDuring(fetching);
  } catch (error) {
    throw job.isLastAttempt && error instanceof RetryableFetchError ? fetchFailed(error.message) : error;
  } finally {
    done.abort();
    bytes.release();
    download.release();
  }
}
