/** From the parts of an upload to what the analysis takes. */
import { type Failure, invalidPart } from '../errors.ts';
import type { Part } from './multipart.ts';

export type Form = {
  readonly audio: Uint8Array;
  readonly baseline: Uint8Array | null;
  /** 0-based; null averages all channels. */
  readonly channel: number | null;
};

const accepted = /^(audio|video)\/|^application\/(octet-stream|ogg|mp4)$/;
const mediaType = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/;

/** The first part of each name counts; unknown ones are ignored. @throws Failure */
export function readForm(parts: readonly Part[]): Form {
  const audio = parts.find((part) => part.name === 'audio');
  if (audio === undefined) throw invalidPart('audio', 'value_error.missing', 'field required');
  const baseline = parts.find((part) => part.name === 'baseline');
  const channel = parts.find((part) => part.name === 'channel');
  return {
    audio: recording(audio),
    baseline: baseline === undefined ? null : recording(baseline),
    channel: channel === undefined ? null : channelNumber(channel),
  };
}

function recording({ name, contentType, bytes }: Part): Uint8Array {
  checkType(name, contentType);
  if (bytes.byteLength === 0) throw noBytes(name);
  return bytes;
}

/** @throws Failure unless the part says that it is a recording, or says nothing */
export function checkType(name: string, contentType: string | null): void {
  if (contentType === null || accepted.test(contentType)) return;
  const got = mediaType.test(contentType) ? contentType : 'something else';
  const expected = 'audio/*, video/*, application/octet-stream, application/ogg or application/mp4';
  throw invalidPart(
    name,
    'value_error.audio.content_type',
    `Expected a content type of ${expected} for \`${name}\`, got ${got}`,
  );
}

export function noBytes(name: string): Failure {
  return invalidPart(name, 'value_error.audio.empty', `Expected a recording for \`${name}\`, got no bytes`);
}

/** @throws Failure */
export function channelNumber(part: Pick<Part, 'bytes'>): number {
  const text = Buffer.from(part.bytes.subarray(0, 16)).toString('latin1').trim();
  if (part.bytes.byteLength <= 16 && /^\d{1,4}$/.test(text)) return Number(text);
  throw invalidPart(
    'channel',
    'value_error.audio.channel',
    'Expected the number of a channel, counted from 0, for `channel`, got something else',
  );
}
