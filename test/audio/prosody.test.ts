/** Measures of prosody are the same for every codec and container. */
import test from 'ava';
import { fixture } from '../../scripts/recordings.ts';
import type { Measures } from '../../src/engine/signals/measures.ts';
import { measureProsody } from '../../src/engine/signals/measures.ts';
import { decode, trackProsody } from '../../src/node/addon.ts';
import { limits } from '../support/analysis.ts';

async function measuresOf(name: string): Promise<Measures> {
  const options = { sampleRate: 16_000, channel: null, limits, cancel: null };
  const { samples, seconds } = decode(fixture(name), options);
  const whole = { start: 0, end: Math.floor(seconds * 100) };
  return measureProsody(await trackProsody(samples, 16_000), [whole], 100, { minVoicedSeconds: 1 });
}

const tolerances = { pitch_level: 0.05, pitch_range: 0.05, level_range: 0.2, spectral_tilt: 0.2 };
const expected = await measuresOf('mono-16k.wav');

for (const name of ['cbr.mp3', 'aac.m4a', 'opus.webm', 'vorbis.ogg', 'mono-8k.wav', 'mulaw.wav']) {
  test(`${name} has the prosody of the WAV`, async (t) => {
    const measures = await measuresOf(name);
    for (const [measure, tolerance] of Object.entries(tolerances)) {
      const apart = Math.abs((measures[measure]?.value ?? 99) - (expected[measure]?.value ?? -99));
      t.true(apart < tolerance, `${measure}: ${apart}`);
    }
  });
}
