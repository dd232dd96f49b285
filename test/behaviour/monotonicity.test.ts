/** The direction in which known changes of speech move the indices. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { decode } from '../../src/node/addon.ts';
import { limits, reporter, speech } from '../support/analysis.ts';

const rate = 16_000;
const report = await reporter();
/**
 * Words per minute, and the gap between words in tens of ms. Synthetic gaps are all equal: at 10 to 12 all of them lie at
 * the bound of a pause and cross it together.
 */
type Speaker = readonly [voice: string, words: number, gap: number];
const speakers: readonly Speaker[] = [
  ['en-us', 190, 0],
  ['en-gb+f3', 160, 0],
  ['en-us+m4', 140, 2],
  ['en-gb+f2', 120, 8],
  ['en-us+f1', 110, 14],
  ['en-gb+m2', 100, 18],
];
const maxBuffer = 2 ** 26;
/** Of the sentences, so that there is speech enough for the indices. */
const repeats = 4;
const pauses = Array.from({ length: repeats }, () => [0.4, 1.2, 0.8]).flat();

const speak = ([voice, words]: Speaker) => speech(`${voice}-${words}`, repeats);

function atTempo(samples: Float32Array, tempo: string): Float32Array {
  const options = ['-t', 'wav', '-', '-t', 'wav', '-', 'tempo', '-s', tempo];
  const input = wavFile(samples, rate);
  const faster = execFileSync('sox', options, { input, maxBuffer, stdio: ['pipe', 'pipe', 'ignore'] });
  return decode(faster, { sampleRate: rate, channel: null, limits, cancel: null }).samples;
}

async function indicesOf(samples: Float32Array): Promise<{ load: number; processing: number }> {
  const { cognitive } = await report(wavFile(samples, rate));
  assert.ok(!cognitive.warnings.includes('insufficient_speech_cognitive'));
  const { cognitive_load, processing } = cognitive.signals as Record<'cognitive_load' | 'processing', number>;
  return { load: cognitive_load, processing };
}

/** The quietest 60 ms of each of `count` equal parts: word gaps. */
function gapsOf(samples: Float32Array, count: number): number[] {
  const width = 0.06 * rate;
  return Array.from({ length: count }, (_, part) => {
    const from = Math.round(((part + 0.6) / (count + 0.2)) * samples.length);
    const to = Math.round(((part + 1.1) / (count + 0.2)) * samples.length) - width;
    let best = { at: from, energy: Number.POSITIVE_INFINITY };
    for (let at = from; at < to; at += rate / 100) {
      const energy = samples.subarray(at, at + width).reduce((sum, sample) => sum + sample * sample, 0);
      if (energy < best.energy) best = { at, energy };
    }
    return best.at + width / 2;
  });
}

function withPauses(samples: Float32Array, seconds: readonly number[]): Float32Array {
  const gaps = gapsOf(samples, seconds.length);
  const longer = new Float32Array(samples.length + rate * seconds.reduce((sum, pause) => sum + pause, 0));
  let from = 0;
  let to = 0;
  gaps.forEach((gap, index) => {
    longer.set(samples.subarray(from, gap), to);
    to += gap - from + (seconds[index] as number) * rate;
    from = gap;
  });
  longer.set(samples.subarray(from), to);
  return longer;
}

for (const speaker of speakers) {
  test(`pauses raise load and lower processing: ${speaker.join(' ')}`, async (t) => {
    const samples = speak(speaker);
    const before = await indicesOf(samples);
    const after = await indicesOf(withPauses(samples, pauses));
    t.true(after.load - before.load > 0.01, `load ${before.load} to ${after.load}`);
    t.true(after.processing < before.processing, `processing ${before.processing} to ${after.processing}`);
  });
}

for (const speaker of speakers.slice(0, 5)) {
  test(`10 % faster or slower keeps load within 0.1: ${speaker.join(' ')}`, async (t) => {
    const samples = speak(speaker);
    const before = await indicesOf(samples);
    for (const tempo of ['0.9', '1.1']) {
      const after = await indicesOf(atTempo(samples, tempo));
      t.true(Math.abs(after.load - before.load) < 0.1, `load ${before.load} to ${after.load} at ${tempo}`);
    }
  });
}
