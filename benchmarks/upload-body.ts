/** Bodies of multipart/form-data, and recordings to put in them. */
import { wavFile } from './wav.ts';

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
