/** Bodies of multipart/form-data, and recordings to put in them. */

export type PartSpec = {
  readonly name: string;
  readonly bytes: Uint8Array | string;
  readonly type?: string;
  readonly filename?: string;
};

export const boundary = 'undertone-test-boundary';
export const contentType = `multipart/form-data; boundary=${boundary}`;

export function multipart(parts: readonly PartSpec[]): Buffer {
  const chunks = parts.flatMap(({ name, bytes, type, filename }) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"`),
    Buffer.from(filename === undefined ? '' : `; filename="${filename}"`),
    Buffer.from(type === undefined ? '\r\n\r\n' : `\r\nContent-Type: ${type}\r\n\r\n`),
    Buffer.from(bytes),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]);
}

/** A 220 Hz tone: valid audio without any speech. */
export function toneFile(seconds: number, sampleRate = 16_000): Buffer {
  const samples = new Float32Array(Math.round(seconds * sampleRate));
  for (let index = 0; index < samples.length; index++) {
    samples[index] = 0.3 * Math.sin((2 * Math.PI * 220 * index) / sampleRate);
  }
  return wavFile(samples, sampleRate);
}

/** A 16-bit PCM WAV file; channels interleaved, samples beyond [-1, 1] are clipped. */
export function wavFile(samples: Float32Array, sampleRate = 16_000, channels = 1): Buffer {
  const bytes = Buffer.alloc(44 + 2 * samples.length);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(channels, 22);
  bytes.writeUInt32LE(sampleRate, 24);
  bytes.writeUInt32LE(2 * channels * sampleRate, 28);
  bytes.writeUInt16LE(2 * channels, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(2 * samples.length, 40);
  for (const [index, sample] of samples.entries()) {
    bytes.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), 44 + 2 * index);
  }
  return bytes;
}
