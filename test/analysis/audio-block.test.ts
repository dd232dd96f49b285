/** The audio block and its warnings, through the whole pipeline, on speech with known noise, level, clipping and band. */
import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import type { CombinedReport } from '../../src/analysis/report.ts';
import { reporter, samplesOf } from '../support/analysis.ts';

const rate = 16_000;
const report = await reporter();
const speech = samplesOf('mono-16k.wav');

const scaled = (samples: Float32Array, gain: number) => samples.map((sample) => gain * sample);
const hear = (samples: Float32Array, sampleRate = rate) => report(wavFile(samples, sampleRate));
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
    const { audio } = await hear(withNoise(scaled(speech, 0.4), decibels));
    t.true(Math.abs((audio.snr_db ?? Number.NaN) - decibels) < 3, `${audio.snr_db}`);
  });
}

test('an SNR below 10 dB warns and widens every interval', async (t) => {
  const [clean, noisy] = [await hear(scaled(speech, 0.4)), await hear(withNoise(scaled(speech, 0.4), 5))];
  t.false(warningsOf(clean).includes('low_snr'));
  t.true(warningsOf(noisy).includes('low_snr'));
  const widths = ({ emotion, cognitive }: CombinedReport) => {
    const signals = { ...emotion.signals, ...cognitive.signals } as { intervals: object };
    const all = { ...(emotion.signals as { intervals: object }).intervals, ...signals.intervals };
    return (Object.values(all) as [number, number][]).map(([lower, upper]) => upper - lower);
  };
  const wide = widths(noisy);
  t.is(wide.length, 3);
  t.true(widths(clean).every((width, index) => width < (wide[index] as number)));
});

test('a gain of 12 dB is a level 12 dB up', async (t) => {
  const [soft, loud] = [await hear(scaled(speech, 0.1)), await hear(scaled(speech, 0.1 * 10 ** (12 / 20)))];
  t.true(Math.abs(loud.audio.level_dbfs - soft.audio.level_dbfs - 12) < 0.11);
  const spoken = 10 * Math.log10(spokenPower(scaled(speech, 0.1)));
  t.true(Math.abs(soft.audio.level_dbfs - spoken) < 2, `${soft.audio.level_dbfs} for ${spoken}`);
});

test('the clipped ratio is the share of clipped samples', async (t) => {
  const loud = scaled(speech, 8 / speech.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0));
  const cut = loud.filter((sample) => Math.abs(sample) >= 1).length / loud.length;
  const clipped = await hear(loud);
  t.true(
    Math.abs(clipped.audio.clipped_ratio - cut) < 0.25 * cut,
    `${clipped.audio.clipped_ratio} for ${cut}`,
  );
  t.true(warningsOf(clipped).includes('clipped'));
  t.is((await hear(scaled(speech, 0.5))).audio.clipped_ratio, 0);
});

/** Every other sample of speech, low-passed at `hertz` by a windowed sinc of 401 points. */
function lowPassed(samples: Float32Array, hertz: number): Float32Array {
  const half = 200;
  const taps = Float32Array.from({ length: 2 * half + 1 }, (_, index) => {
    const at = index - half;
    const window = 0.42 + 0.5 * Math.cos((Math.PI * at) / half) + 0.08 * Math.cos((2 * Math.PI * at) / half);
    const cycle = (2 * hertz) / rate;
    return window * (at === 0 ? cycle : Math.sin(Math.PI * cycle * at) / (Math.PI * at));
  });
  return samples.map((_, index) => {
    let sum = 0;
    for (let tap = 0; tap < taps.length; tap++)
      sum += (taps[tap] as number) * (samples[index + tap - half] ?? 0);
    return sum;
  });
}

for (const hertz of [3400, 5000]) {
  test(`speech that ends at ${hertz} Hz has that bandwidth within a tenth`, async (t) => {
    const found = await hear(lowPassed(withNoise(speech, 30), hertz));
    t.true(Math.abs(found.audio.bandwidth_hz / hertz - 1) < 0.1, `${found.audio.bandwidth_hz}`);
    t.is(warningsOf(found).includes('narrow_band'), hertz < 4500);
  });
}
