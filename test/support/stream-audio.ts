/** Samples to stream, and the WAV file that an upload of them is. */
import { contentType, multipart } from '../../benchmarks/upload-body.ts';
import { fixture } from '../../scripts/recordings.ts';
import { call, type Reply } from './http.ts';

/** The samples of a WAV file with one `data` chunk at its end. */
export function dataOf(wav: Uint8Array): Buffer {
  const file = Buffer.from(wav);
  const at = file.indexOf('data', 36, 'latin1');
  return file.subarray(at + 8, at + 8 + file.readUInt32LE(at + 4));
}

/** 16-bit samples of speech at 16 kHz. */
export function speechSamples(seconds: number): Buffer {
  return dataOf(fixture('mono-16k.wav')).subarray(0, 32_000 * seconds);
}

/** The analysis of an upload. */
export function analyzeFile(
  port: number,
  token: string,
  wav: Uint8Array,
  requestId: string,
  texts: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const parts = Object.entries(texts).map(([name, bytes]) => ({ name, bytes }));
  return call(port, {
    method: 'POST',
    path: '/v1/analyze',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': contentType, 'X-Request-Id': requestId },
    body: multipart([...parts, { name: 'audio', bytes: wav, type: 'audio/wav' }]),
  });
}
