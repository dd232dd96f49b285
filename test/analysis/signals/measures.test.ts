import test from 'ava';
import { addSyllables, measureTiming, noSyllables } from '../../../src/engine/signals/measures.ts';
import type { Segment } from '../../../src/engine/speech.ts';

const framesPerSecond = 100;
const params = { longPauseSeconds: 1, minTurnSeconds: 0.2, rateWindowSeconds: 1, minRateWindows: 3 };
const measure = (
  segments: readonly Segment[],
  syllableRate: Float32Array,
  others: readonly Segment[] | undefined = undefined,
) =>
  measureTiming(
    {
      segments,
      others,
      totals: addSyllables(noSyllables, segments, syllableRate, framesPerSecond, params),
      framesPerSecond,
    },
    params,
  );
const steady = (rate: number, frames: number) => new Float32Array(frames).fill(rate);

test('known timing gives known measures', (t) => {
  const segments = [
    { start: 100, end: 400 },
    { start: 450, end: 650 },
    { start: 800, end: 1100 },
  ];
  const measures = measure(segments, steady(4, 1200));
  const near = (name: string, expected: number) => {
    t.true(
      Math.abs((measures[name]?.value ?? Number.NaN) - expected) < 1e-9,
      `${name}: ${measures[name]?.value}`,
    );
  };
  near('pause_ratio', 2 / 10);
  near('pause_rate', 12);
  near('mean_pause', 1);
  near('long_pause_rate', 6);
  near('mean_run', 8 / 3);
  near('mean_run_syllables', 32 / 3);
  near('articulation_rate', 4);
  near('speech_rate', 3.2);
  near('rate_variability', 0);
});

test('a gap in which another speaker takes the turn is no pause', (t) => {
  const segments = [
    { start: 0, end: 300 },
    { start: 700, end: 1000 },
    { start: 1100, end: 1400 },
    { start: 1500, end: 1800 },
  ];
  const alone = measure(segments, steady(4, 1800));
  t.is(alone.pause_ratio?.value, 600 / 1800);
  // A turn of 2 s, and a sound of 0.1 s, which takes none.
  const others = [
    { start: 350, end: 550 },
    { start: 1440, end: 1450 },
  ];
  const found = measure(segments, steady(4, 1800), others);
  t.is(found.pause_ratio?.value, 200 / 1400);
  t.is(found.mean_pause?.value, 1);
  t.is(found.mean_run?.value, alone.mean_run?.value);
  t.is(found.articulation_rate?.value, alone.articulation_rate?.value);
  t.true(Math.abs((found.speech_rate?.value ?? 0) - (4 * 12) / 14) < 1e-9);
});

test('silence at either end has no effect', (t) => {
  const inner = measure(
    [
      { start: 0, end: 300 },
      { start: 350, end: 600 },
    ],
    steady(3, 600),
  );
  const padded = measure(
    [
      { start: 1000, end: 1300 },
      { start: 1350, end: 1600 },
    ],
    steady(3, 4000),
  );
  t.deepEqual(padded, inner);
});

test('undefined measures are absent', (t) => {
  const measures = measure([{ start: 0, end: 100 }], steady(4, 100));
  t.false('mean_pause' in measures);
  t.false('rate_variability' in measures);
  t.deepEqual(measure([], steady(0, 0)), {});
});

test('an uneven rate has its coefficient of variation', (t) => {
  const syllableRate = Float32Array.from([...steady(2, 200), ...steady(6, 200)]);
  const measures = measure([{ start: 0, end: 400 }], syllableRate);
  t.is(measures.rate_variability?.value, 0.5);
});

test('syllables that are added part by part are those of the whole', (t) => {
  const syllableRate = Float32Array.from({ length: 900 }, (_, frame) => frame % 7);
  const segments = [
    { start: 20, end: 330 },
    { start: 400, end: 900 },
  ];
  const add = (totals: typeof noSyllables, parts: readonly Segment[]) =>
    addSyllables(totals, parts, syllableRate, framesPerSecond, params);
  const parts = [
    [{ start: 20, end: 250 }],
    [
      { start: 250, end: 330 },
      { start: 400, end: 450 },
    ],
    [{ start: 450, end: 900 }],
  ];
  const whole = add(noSyllables, segments);
  t.deepEqual(parts.reduce(add, noSyllables), whole);
  t.is(whole.rates.length, 8);
  t.is(whole.frames, 10);
});
