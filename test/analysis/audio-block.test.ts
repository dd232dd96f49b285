/** The audio block and its warnings, through the whole pipeline, on speech with known noise, level, clipping and band. */
import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import type { CombinedReport } from '../../src/engine/report.ts';
import { reporter, samplesOf } from '../support/analysis.ts';

const rate = 16_000;
const report = await reporter();
const speech = samplesOf('mono-16k.wav');

const scaled = (samples: Float32Array, gain: number) => samples.map((sample) => gain * sample);
const analyze = (samples: Float32Array, sampleRate = rate) => report(wavFile(samples, sampleRate));
type EmotionSignals = Extract<CombinedReport['emotion']['signals'], { dominant_emotion: string }>;
type CognitiveSignals = Extract<CombinedReport['cognitive']['signals'], { clarity: number }>;
const warningsOf = ({ emotion }: CombinedReport) => emotion.warnings;

/** Mean power of the 20 ms frames above a tenth of the mean: speech without its pauses. */
function spokenPower(samples: Float32Array): number {
  const powers: number[] = [];
  for (let at = 0; at + 320 <= samples.length; at += 320) {
    powers.push(samples.subarray(at, at + 320).reduce((sum, sample) => sum + sample * sample, 0) / 320);
  }
  const mean = powers.reduce((sum, power) => sum + power, 0) / powers.length;
  const loud = powers.filter((power) => power > 0.1 * mean);
  return loud.reduce((sum, power) => sum + power, 0) / loud.length;
}

function withNoise(samples: Float32Array, decibels: number): Float32Array {
  const amplitude = Math.sqrt((3 * spokenPower(samples)) / 10 ** (decibels / 10));
  let state = 5;
  return samples.map((sample) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return sample + amplitude * (state / 2 ** 31 - 1);
  });
}

for (const decibels of [5, 10, 15, 20, 30]) {
  test(`speech ${decibels} dB over white noise is measured within 3 dB`, async (t) => {
    const { audio } = await analyze(withNoise(scaled(speech, 0.4), decibels));
    t.true(Math.abs((audio.snr_db ?? Number.NaN) - decibels) < 3, `${audio.snr_db}`);
  });
}

test('an SNR below 10 dB warns and widens every interval of a learned score', async (t) => {
  const [clean, noisy] = [
    await analyze(scaled(speech, 0.4)),
    await analyze(withNoise(scaled(speech, 0.4), 5)),
  ];
  t.false(warningsOf(clean).includes('low_snr'));
  t.true(warningsOf(noisy).includes('low_snr'));
  const widths = ({ emotion, cognitive }: CombinedReport) => {
    const { valence, arousal } = (emotion.signals as EmotionSignals).intervals;
    const { clarity } = (cognitive.signals as CognitiveSignals).intervals;
    return [valence, arousal, clarity].map((bounds) => (bounds?.[1] ?? 0) - (bounds?.[0] ?? 0));
  };
  const wide = widths(noisy);
  t.true(widths(clean).every((width, index) => width < (wide[index] as number)));
});

test('the clipped ratio is the share of clipped samples', async (t) => {
  const loud = scaled(speech, 8 / speech.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0));
  const cut = loud.filter((sample) => Math.abs(sample) >= 1).length / loud.length;
  const clipped = await analyze(loud);
  t.true(
    Math.abs(clipped.audio.clipped_ratio - cut) < 0.25 * cut,
    `${clipped.audio.clipped_ratio} for ${cut}`,
  );
  t.true(warningsOf(clipped).includes('clipped'));
  t.is((await analyze(scaled(speech, 0.5))).audio.clipped_ratio, 0);
});
