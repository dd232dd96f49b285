/**
 * Keyed digests of requests, compared when an idempotency key is reused. Each uploaded part has its own digest, so neither the
 * order of parts nor the multipart boundary matters.
 */

import { createHmac, type Hmac } from 'node:crypto';
import type { AnalyzeOptions } from '../../engine/index.ts';
import type { RecordingName } from '../form.ts';
import type { Metadata } from '../metadata.ts';

/** The source is an upload, by the digests of its parts, or a URL. */
export type DigestInput = AnalyzeOptions & {
  readonly source:
    | { readonly audio: string; readonly baselines: readonly string[] }
    | { readonly url: string };
  readonly callback: string | null;
  readonly receipt?: boolean;
  readonly metadata?: Metadata;
};

export function createPartDigest(key: Uint8Array, part: RecordingName): Hmac {
  return createHmac('sha256', key).update(`${part}\n`);
}

/** @returns HMAC-SHA256 of a request in hexadecimal */
export function digestRequest(
  key: Uint8Array,
  {
    source,
    channel,
    track,
    channels,
    segments,
    speakers,
    callback,
    receipt = false,
    metadata = {},
  }: DigestInput,
): string {
  const parts = 'url' in source ? ['url', source.url] : ['upload', source.audio, ...source.baselines];
  const options = [channel, channels, segments, speakers, callback, receipt, metadata];
  // Without a track as in earlier releases, whose digests are in the database.
  const text = JSON.stringify([parts, ...options, ...(track === null ? [] : [track])]);
  return createHmac('sha256', key).update(`request\n${text}`).digest('hex');
}
