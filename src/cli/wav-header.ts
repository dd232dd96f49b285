/** The header of a WAV file that is still being written: its sizes may be unknown. */
import type { Encoding, SampleFormat } from '../audio/wav.ts';
import { UsageError } from './context.ts';

export type WavHeader = {
  readonly format: SampleFormat;
  /** Of the first sample. */
  readonly offset: number;
  /** Length of the samples; infinite if the header does not have it. */
  readonly bytes: number;
};

/** By format tag and bits of a sample. */
const encodings: Readonly<Record<string, Encoding>> = {
  '1/16': 's16le',
  '3/32': 'f32le',
  '6/8': 'alaw',
  '7/8': 'mulaw',
};
/** The tag stands in the subformat. */
const extensible = 0xfffe;
/** Written by programs that do not know the length: 0, and values near the maximum. */
const maxKnownBytes = 0x7fff_0000;
const maxHeaderBytes = 2 ** 20;
const conversion = 'convert it: ffmpeg -i FILE -ac 1 -ar 16000 -f wav -';

/** Returns null when more bytes are needed. @throws UsageError */
export function parseWavHeader(bytes: Buffer): WavHeader | null {
  if (
    bytes.length >= 12 &&
    `${bytes.toString('latin1', 0, 4)}${bytes.toString('latin1', 8, 12)}` !== 'RIFFWAVE'
  ) {
    throw new UsageError(
      `Expected a WAV file on standard input, or raw samples and --encoding, got something else; ${conversion}`,
    );
  }
  if (bytes.length > maxHeaderBytes)
    throw new UsageError('Expected a WAV header of up to 1 MiB, got a longer one');
  let format: SampleFormat | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const body = at + 8;
    if (name === 'data') {
      if (format === null) throw new UsageError('Expected a WAV file with `fmt `, got none');
      const isKnown = size > 0 && size < maxKnownBytes;
      return { format, offset: body, bytes: isKnown ? size : Number.POSITIVE_INFINITY };
    }
    if (name === 'fmt ' && body + size <= bytes.length)
      format = parseFormat(bytes.subarray(body, body + size));
    at = body + size + (size % 2);
  }
  return null;
}

function parseFormat(chunk: Buffer): SampleFormat {
  if (chunk.length < 16) throw new UsageError('Expected a whole `fmt ` of the WAV file, got a part');
  const tag = chunk.readUInt16LE(0);
  const codec = tag === extensible && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag;
  const bits = chunk.readUInt16LE(14);
  const encoding = encodings[`${codec}/${bits}`];
  const channels = chunk.readUInt16LE(2);
  if (encoding === undefined || (channels !== 1 && channels !== 2)) {
    const got = `format ${codec} with ${bits} bits and ${channels} channels`;
    throw new UsageError(
      `Expected 16-bit, 32-bit float or G.711 samples of 1 or 2 channels, got ${got}; ${conversion}`,
    );
  }
  return { encoding, sampleRate: chunk.readUInt32LE(4), channels };
}
