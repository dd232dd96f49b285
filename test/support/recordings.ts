/** Long recordings of speech. */

import { wavFile } from '../../benchmarks/wav.ts';
import { samplesOf } from './analysis.ts';

/** Speech over and over. */
export function lecture(seconds: number): Buffer {
  const speech = samplesOf('speech.wav');
  const samples = new Float32Array(seconds * 16_000);
  for (let at = 0; at < samples.length; at += speech.length + 8000) {
    samples.set(speech.subarray(0, samples.length - at), at);
  }
  return wavFile(samples);
}

/** The WAV file played `factor` times as fast: another voice. */
export function fast(wav: Buffer, factor: number): Buffer {
  const played = Buffer.from(wav);
  for (const at of [24, 28]) played.writeUInt32LE(2 * Math.round((factor * wav.readUInt32LE(at)) / 2), at);
  return played;
}
