/** The shipped parameters of the cognitive indices, relative to a baseline. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import { type ManifestOf, manifestSchema } from '../../../src/engine/manifest.ts';
import { computeIndex, type Index, type Measured } from '../../../src/engine/signals/indices.ts';

const manifest = manifestSchema.parse(
  JSON.parse(readFileSync('models/standard/cognitive/manifest.json', 'utf8')),
);
const { params } = manifest as ManifestOf<'cognitive'>;

/** Measures within the range of one speaker. */
const values = fc.record({
  pause_ratio: fc.double({ min: 0, max: 0.95, noNaN: true }),
  mean_run: fc.double({ min: 0.1, max: 60, noNaN: true }),
  rate_variability: fc.double({ min: 0, max: 2, noNaN: true }),
  pitch_level: fc.double({ min: 24, max: 36, noNaN: true }),
  pitch_range: fc.double({ min: 0, max: 15, noNaN: true }),
  spectral_tilt: fc.double({ min: -15, max: 0, noNaN: true }),
});
type Values = Readonly<Record<string, number>>;

const measured = (record: Values, speechSeconds = 20): Measured => ({
  measures: Object.fromEntries(Object.entries(record).map(([name, value]) => [name, { value, unit: '' }])),
  speechSeconds,
});
const load = (recording: Values, baseline: Values | null): Index =>
  computeIndex(
    measured(recording),
    params.cognitiveLoad,
    params,
    baseline === null ? null : measured(baseline),
  );
const processing = (recording: Values, baseline: Values): Index =>
  computeIndex(measured(recording), params.processing, params, measured(baseline));

test('any recording as its own baseline scores exactly 0.5 in both', (t) => {
  fc.assert(fc.property(values, (own) => load(own, own).score === 0.5 && processing(own, own).score === 0.5));
  t.pass();
});

test('load rises with pauses, pitch and a flatter tilt, and falls with the range of pitch', (t) => {
  const directions = { pause_ratio: 1, mean_run: -1, pitch_level: 1, pitch_range: -1, spectral_tilt: 1 };
  fc.assert(
    fc.property(values, values, fc.constantFrom(...Object.keys(directions)), (recording, baseline, name) => {
      const sign = directions[name as keyof typeof directions];
      const from = (recording as Values)[name] as number;
      const more = { ...recording, [name]: name === 'pause_ratio' ? from + (0.99 - from) / 2 : from + 1 };
      const [before, after] = [load(recording, baseline).score, load(more, baseline).score];
      return sign * (after - before) > 0 && after > 0 && after < 1;
    }),
  );
  t.pass();
});

test('an added pause moves load as far with a baseline as without one', (t) => {
  const median = Object.fromEntries(
    Object.entries(params.reference).map(([name, entry]) => [name, entry.median]),
  );
  const more = { ...median, pause_ratio: (median.pause_ratio as number) + 0.1 };
  const [alone, beside] = [load(more, null).score - 0.5, load(more, median).score - 0.5];
  t.true(alone > 0.02 && Math.abs(beside / alone - 1) < 0.01, `${beside} beside, ${alone} alone`);
});

test('processing ignores prosody', (t) => {
  fc.assert(
    fc.property(values, values, (recording, baseline) => {
      const other = { ...recording, pitch_level: 20, pitch_range: 1, spectral_tilt: 0 };
      return processing(recording, baseline).score === processing(other, baseline).score;
    }),
  );
  t.pass();
});

test('a baseline without a pause, or without a rate variability, gives a finite score', (t) => {
  const recording = { pause_ratio: 0.2, mean_run: 2, rate_variability: 0.2, pitch_level: 30 };
  const still = { pause_ratio: 0, mean_run: 30, rate_variability: 0, pitch_level: 30 };
  for (const index of [load(recording, still), load(still, recording), processing(recording, still)]) {
    t.true(index.score > 0 && index.score < 1 && index.score !== 0.5);
  }
});

test('measures absent from the baseline have no effect, and without a baseline prosody has none', (t) => {
  const recording = { pause_ratio: 0.2, mean_run: 2, pitch_level: 30, pitch_range: 5, spectral_tilt: -9 };
  const named = ({ contributions }: Index) => contributions.map(({ measure }) => measure);
  t.deepEqual(named(load(recording, { pause_ratio: 0.2, mean_run: 2 })), ['pause_ratio', 'mean_run']);
  t.deepEqual(named(load(recording, null)), ['pause_ratio', 'mean_run']);
  t.deepEqual(named(load(recording, recording)), Object.keys(recording));
});
