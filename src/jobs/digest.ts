/**
 * Keyed digests of requests, which tell whether a reused idempotency key comes with the same request. Uploaded parts
 * are digested one by one, so neither their order nor the multipart boundary counts.
 */
import { createHmac, type Hmac } from 'node:crypto';
import type { RecordingName } from '../multipart/form.ts';

/** The parts of an upload by their digests, or the URL of a recording. */
export type DigestInput = {
  readonly source: { readonly audio: string; readonly baseline: string | null } | { readonly url: string };
  readonly channel: number | null;
  readonly callback: string | null;
};

/** Digest of the bytes of one uploaded part: update it with each chunk, then take it as hexadecimal. */
export function createPartDigest(key: Uint8Array, part: RecordingName): Hmac {
  return createHmac('sha256', key).update(`${part}\n`);
}

/** HMAC-SHA256 of a request, hexadecimal. */
export function digestRequest(key: Uint8Array, { source, channel, callback }: DigestInput): string {
  const what = 'url' in source ? ['url', source.url] : ['upload', source.audio, source.baseline];
  const text = JSON.stringify([...what, channel, callback]);
  return createHmac('sha256', key).update(`request\n${text}`).digest('hex');
}
