/**
 * Keyed digests of requests, compared when an idempotency key is reused. Each uploaded part has its own digest, so
 * neither the order of parts nor the multipart boundary matters.
 */
import { createHmac, type Hmac } from 'node:crypto';
import type { AnalyzeOptions } from '../analysis/types.ts';
import type { RecordingName } from '../multipart/form.ts';

/** The source is an upload, by the digests of its parts, or a URL. */
export type DigestInput = AnalyzeOptions & {
  readonly source:
    | { readonly audio: string; readonly baselines: readonly string[] }
    | { readonly url: string };
  readonly callback: string | null;
  readonly receipt?: boolean;
};

export function createPartDigest(key: Uint8Array, part: RecordingName): Hmac {
  return createHmac('sha256', key).update(`${part}\n`);
}

/** @returns HMAC-SHA256 of a request in hexadecimal */
export function digestRequest(
  key: Uint8Array,
  { source, channel, callback, ...options }: DigestInput,
): string {
  const [baseline = null, ...more] = 'url' in source ? [] : source.baselines;
  const parts = 'url' in source ? ['url', source.url] : ['upload', source.audio, baseline];
  // Options of later releases count only when they are used, so that digests stay equal.
  const later = [
    options.channels,
    options.segments,
    options.receipt ? 'receipt' : null,
    more.length > 0 ? more : null,
  ].filter((value) => value !== null);
  const text = JSON.stringify([...parts, channel, callback, ...later]);
  return createHmac('sha256', key).update(`request\n${text}`).digest('hex');
}
