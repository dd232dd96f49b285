/** Speech of any length: the sample that the project ships, over and over. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode } from '../src/tools/index.ts';
import { root } from './case.ts';
import { wavFile } from './upload-body.ts';

/** A 16 kHz WAV file. `from`: where in the sample it begins, s. */
export function speechFile(seconds: number, from = 0): Buffer {
  const { samples } = decode(readFileSync(join(root, 'examples/sample.wav')));
  const first = Math.round(from * 16_000);
  const at = (index: number) => samples[(first + index) % samples.length] as number;
  return wavFile(Float32Array.from({ length: Math.round(seconds * 16_000) }, (_, index) => at(index)));
}
