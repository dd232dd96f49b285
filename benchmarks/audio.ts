import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './case.ts';

const seconds = 600;
const sampleRate = 16000;

/** Seeded noise that rises and falls four times a second, roughly as syllables do. */
function makeSamples(): Float32Array {
  let state = 1;
  return Float32Array.from({ length: seconds * sampleRate }, (_, i) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32 - 0.5) * 0.6 * (((i % 4000) + 40) / 4040);
  });
}

/** Path of 600 s of mono 16 kHz float32 samples, made once. */
export function longAudio(): string {
  const path = join(cacheFolder('features'), 'audio.f32');
  if (!existsSync(path)) writeFileSync(path, makeSamples());
  return path;
}
