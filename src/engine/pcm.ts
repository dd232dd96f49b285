/** Samples without a container: their formats, and WAV headers for them. */

export type Encoding = 's16le' | 'f32le' | 'mulaw' | 'alaw';

/** Samples without a header, channels interleaved. */
export type SampleFormat = {
  readonly encoding: Encoding;
  readonly sampleRate: number;
  readonly channels: number;
};

/** WAVE_FORMAT_PCM, IEEE_FLOAT, MULAW and ALAW, and the bytes of a sample. */
const formats: Readonly<Record<Encoding, { readonly tag: number; readonly bytes: number }>> = {
  s16le: { tag: 1, bytes: 2 },
  f32le: { tag: 3, bytes: 4 },
  mulaw: { tag: 7, bytes: 1 },
  alaw: { tag: 6, bytes: 1 },
};

const headerBytes = 44;

/** Bytes of one sample of every channel. */
export function frameBytesOf({ encoding, channels }: Pick<SampleFormat, 'encoding' | 'channels'>): number {
  return formats[encoding].bytes * channels;
}

/** @param dataBytes length of the samples that follow */
export function wavHeader(format: SampleFormat, dataBytes: number): Uint8Array {
  const { tag, bytes } = formats[format.encoding];
  const header = Buffer.alloc(headerBytes);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(headerBytes - 8 + dataBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(tag, 20);
  header.writeUInt16LE(format.channels, 22);
  header.writeUInt32LE(format.sampleRate, 24);
  header.writeUInt32LE(frameBytesOf(format) * format.sampleRate, 28);
  header.writeUInt16LE(frameBytesOf(format), 32);
  header.writeUInt16LE(8 * bytes, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return new Uint8Array(header);
}
