/** From the parts of an upload to what the analysis takes. */
import { invalidPart } from '../errors.ts';
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

function recording(part: Part): Uint8Array {
  if (part.contentType !== null && !accepted.test(part.contentType)) {
    const got = mediaType.test(part.contentType) ? part.contentType : 'something else';
    const expected = 'audio/*, video/*, application/octet-stream, application/ogg or application/mp4';
    throw invalidPart(
      part.name,
      'value_error.audio.content_type',
      `Expected a content type of ${expected} for \`${part.name}\`, got ${got}`,
    );
  }
  if (part.bytes.byteLength === 0) {
    throw invalidPart(
      part.name,
      'value_error.audio.empty',
      `Expected a recording for \`${part.name}\`, got no bytes`,
    );
  }
  return part.bytes;
}

function channelNumber(part: Part): number {
  const text = Buffer.from(part.bytes.subarray(0, 16)).toString('latin1').trim();
  if (part.bytes.byteLength <= 16 && /^\d{1,4}$/.test(text)) return Number(text);
  throw invalidPart(
    'channel',
    'value_error.audio.channel',
    'Expected the number of a channel, counted from 0, for `channel`, got something else',
  );
}
