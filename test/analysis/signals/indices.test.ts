/** Cognitive indices, their intervals, and what a baseline changes. */
import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { type ManifestOf, manifestSchema } from '../../../src/engine/manifest.ts';
import type { Segment } from '../../../src/engine/segments.ts';
import {
  computeIndex,
  type Index,
  type IndexWithInterval,
  type Measured,
  scoreIndices,
  speechShare,
} from '../../../src/engine/signals/indices.ts';
import {
  addSyllables,
  measureRuns,
  measureTiming,
  noSyllables,
  runsOf,
} from '../../../src/engine/signals/measures.ts';
import { readManifests } from '../../../src/node/models.ts';

/** Two measures, their reference and an index of them. */
const params = {
  priorSeconds: 20,
  reference: {
    pause_ratio: { median: 0.2, spread: 0.6, scale: 'odds', source: 'a study' },
    mean_run: { median: 2, spread: 0.3, scale: 'inverse', source: 'another' },
    pitch_level: { median: 0, spread: 3, scale: 'difference', source: 'a third' },
  },
} as const;

const weights = {
  pause_ratio: { direction: 'up', weight: 3, relativeOnly: false },
  mean_run: { direction: 'down', weight: 1, relativeOnly: false },
} as const;

const manifests = await readManifests('models/standard');
const { params: shipped } = manifests.find(({ kind }) => kind === 'cognitive') as ManifestOf<'cognitive'>;

const recordingOf = (pauseRatio: number, meanRun: number, speechSeconds = 20) => ({
  measures: {
    pause_ratio: { value: pauseRatio, unit: 'ratio' },
    mean_run: { value: meanRun, unit: 's' },
  },
  speechSeconds,
});
const scoreOf = (...values: Parameters<typeof recordingOf>) =>
  computeIndex(recordingOf(...values), weights, params, null).score;

test('a speaker at the reference scores 0.5 at any duration', (t) => {
  t.is(scoreOf(0.2, 2), 0.5);
  t.is(scoreOf(0.2, 2, 0.6), 0.5);
});

test('the score follows the closed form', (t) => {
  const { score, contributions } = computeIndex(recordingOf(0.4, 2), weights, params, null);
  const odds = (0.25 + 0.4 / 0.6) / 2; // 20 s of the recording and 20 s at the reference
  const position = 1 / (1 + (0.25 / odds) ** (1 / 0.6));
  t.true(Math.abs(score - (0.5 + 0.75 * (position - 0.5))) < 1e-12);
  t.deepEqual(
    contributions.map(({ measure, source }) => [measure, source]),
    [
      ['pause_ratio', 'a study'],
      ['mean_run', 'another'],
    ],
  );
});

test('more pausing and shorter runs raise the score everywhere, within (0, 1)', (t) => {
  const ratio = fc.double({ min: 0, max: 0.98, noNaN: true });
  const run = fc.double({ min: 0.1, max: 60, noNaN: true });
  const seconds = fc.double({ min: 0.5, max: 900, noNaN: true });
  fc.assert(
    fc.property(ratio, run, seconds, (r, s, speech) => {
      const score = scoreOf(r, s, speech);
      const paused = scoreOf(r + 0.01, s, speech);
      const shorter = scoreOf(r, s * 0.95, speech);
      return score > 0 && paused < 1 && paused > score && shorter > score;
    }),
  );
  t.pass();
});

test('one pause of the minimum length moves no shipped index by 0.035', async (t) => {
  const manifests = await readManifests('models/standard');
  const shipped = manifests.find(({ kind }) => kind === 'cognitive') as ManifestOf<'cognitive'>;
  for (const index of [shipped.params.cognitiveLoad, shipped.params.processing]) {
    for (const speech of [0.6, 1, 3, 5, 10, 20, 60]) {
      for (const runs of [1, 2, 4]) {
        const at = (pauses: number) =>
          computeIndex(
            recordingOf((0.25 * pauses) / (speech + 0.25 * pauses), speech / (pauses + 1), speech),
            index,
            shipped.params,
            null,
          ).score;
        const by = Math.abs(at(runs) - at(runs - 1));
        t.true(by > 0 && by < 0.035, `${speech} s, ${runs} pauses: ${by}`);
      }
    }
  }
});

test('a short recording is pulled towards the reference', (t) => {
  t.true(scoreOf(0.5, 1, 40) > scoreOf(0.5, 1, 4) && scoreOf(0.5, 1, 4) > 0.5);
  t.is(speechShare(5, 20), 0.2);
});

test('a relative-only measure has an effect only with a baseline', (t) => {
  const pitched = (value: number) => ({
    measures: { ...recordingOf(0.2, 2).measures, pitch_level: { value, unit: 'semitones' } },
    speechSeconds: 20,
  });
  const all = { ...weights, pitch_level: { direction: 'up', weight: 4, relativeOnly: true } } as const;
  t.is(computeIndex(pitched(9), all, params, null).score, 0.5);
  t.is(computeIndex(pitched(9), all, params, null).contributions.length, 2);
  const relative = computeIndex(pitched(9), all, params, pitched(3));
  t.true(Math.abs(relative.score - (0.5 + 0.5 * (1 / (1 + Math.exp(-1)) - 0.5))) < 1e-12);
});

test('an undefined measure has no effect', (t) => {
  const { contributions } = computeIndex(
    { measures: { mean_run: { value: 1, unit: 's' } }, speechSeconds: 5 },
    weights,
    params,
    null,
  );
  t.deepEqual(
    contributions.map(({ measure }) => measure),
    ['mean_run'],
  );
});

const framesPerSecond = 100;

/** Runs of 1, 2 and 3 s in turn, with pauses of half a second. */
function speak(runs: number) {
  const segments: { start: number; end: number }[] = [];
  for (let run = 0; run < runs; run++) {
    const start = (segments.at(-1)?.end ?? -50) + 50;
    segments.push({ start, end: start + 100 * (1 + (run % 3)) });
  }
  const speech = segments.reduce((sum, { start, end }) => sum + end - start, 0) / framesPerSecond;
  const pauses = 0.5 * (runs - 1);
  const measures = measureRuns({ speech, pause: pauses, runs });
  return { segments, measured: { measures, speechSeconds: speech } };
}

function intervalOf(runs: number) {
  const { segments, measured } = speak(runs);
  const standard = { params, baseline: null };
  const [index] = scoreIndices(
    [weights],
    measured,
    runsOf({ segments, framesPerSecond }, { minTurnSeconds: 0.2 }),
    standard,
  );
  const { score, interval } = index as IndexWithInterval;
  const [lower, upper] = interval;
  return { lower, upper, score, width: upper - lower };
}

test('an interval contains the score, and is the same on every call', (t) => {
  for (const runs of [1, 5, 60]) {
    const { lower, upper, score } = intervalOf(runs);
    t.true(lower <= score && score <= upper && lower > 0 && upper < 1, `${lower} ${score} ${upper}`);
    t.deepEqual(intervalOf(runs), intervalOf(runs));
  }
});

test('a second of speech spans four fifths of the scale, and more speech narrows the interval', (t) => {
  const widths = [1, 6, 30, 300].map((runs) => intervalOf(runs).width);
  t.true((widths[0] as number) > 0.7, `${widths[0]}`);
  t.deepEqual(
    widths,
    widths.toSorted((a, b) => b - a),
  );
  t.true((widths[3] as number) < 0.2, `${widths[3]}`);
});

test('runs of equal length leave only the doubt about the reference', (t) => {
  const { segments, measured } = speak(40);
  const equal = segments.map((_, run) => ({ start: run * 250, end: run * 250 + 200 }));
  const standard = { params: { ...params, priorSeconds: 1e-9 }, baseline: null };
  const timing = { segments: equal, framesPerSecond };
  const [index] = scoreIndices([weights], measured, runsOf(timing, { minTurnSeconds: 0.2 }), standard);
  const [lower, upper] = (index as IndexWithInterval).interval;
  t.true(upper - lower < 0.05, `${lower} ${upper}`);
});

/** Seconds of speech, each run with the seconds of pause before it. */
type Runs = readonly (readonly [pause: number, speech: number])[];

/** The shipped indices of speech with a syllable rate that varies. */
function shippedIndices(runs: Runs): IndexWithInterval[] {
  const segments: Segment[] = [];
  for (const [pause, speech] of runs) {
    const start = (segments.at(-1)?.end ?? 0) + Math.round(pause * framesPerSecond);
    segments.push({ start, end: start + Math.round(speech * framesPerSecond) });
  }
  const syllableRate = Float32Array.from(
    { length: segments.at(-1)?.end ?? 0 },
    (_, frame) => 4 + Math.sin(frame / 70),
  );
  const totals = addSyllables(noSyllables, segments, syllableRate, framesPerSecond, shipped.measures);
  const measures = measureTiming({ segments, totals, framesPerSecond }, shipped.measures);
  const speechSeconds = segments.reduce((sum, { start, end }) => sum + end - start, 0) / framesPerSecond;
  const weights = [shipped.cognitiveLoad, shipped.processing];
  const standard = { params: shipped, baseline: null };
  return scoreIndices(
    weights,
    { measures, speechSeconds },
    runsOf({ segments, framesPerSecond }, shipped.measures),
    standard,
  );
}

const widthOf = ({ interval: [lower, upper] }: IndexWithInterval) => upper - lower;

/** Neither score nor an end of an interval moves further than `by` from one to the next. */
function checkSteps(t: ExecutionContext, indices: readonly IndexWithInterval[][], by: number): void {
  const rows = indices.map((pair) => pair.flatMap(({ score, interval }) => [score, ...interval]));
  rows.slice(1).forEach((row, step) => {
    const far = Math.max(...row.map((value, at) => Math.abs(value - (rows[step]?.[at] as number))));
    t.true(far < by, `step ${step} moves by ${far}`);
  });
}

test('one run without a pause: wide intervals that narrow with its length, and never close', (t) => {
  const lengths = [0.5, 2, 4, 8, 10, 12, 20, 30, 60, 120, 300, 900];
  const widths = lengths.map((seconds) => shippedIndices([[0, seconds]]).map(widthOf));
  for (const index of [0, 1]) {
    const of = widths.map((pair) => pair[index] as number);
    lengths.forEach((seconds, at) => {
      if (seconds <= 10) t.true((of[at] as number) > 0.7, `${of[at]} at ${seconds} s`);
      t.true((of[at] as number) > 0.005, `${of[at]} at ${seconds} s`);
      t.true((of[at + 1] ?? 0) < (of[at] as number) + 0.01, `${of[at]} and ${of[at + 1]} after ${seconds} s`);
    });
  }
});

test('scores and intervals move by little where speech reaches 3 s, 10 s or an interval of 0.65', (t) => {
  const before: Runs = [
    [0, 1],
    [0.4, 1.5],
  ];
  const grow = (runs: Runs, from: number) =>
    Array.from({ length: 200 }, (_, step) => shippedIndices([...runs, [0.4, from + step / 100]]));
  // At 3 s the variability of the rate becomes defined.
  checkSteps(t, grow([], 2), 0.015);
  checkSteps(t, grow(before, 6.5), 0.01);
  const widthAt = (seconds: number) => Math.max(...shippedIndices([[0.4, seconds]]).map(widthOf));
  const narrow = Array.from({ length: 60 }, (_, step) => 1 + step).find((seconds) => widthAt(seconds) < 0.65);
  const narrowing = grow([], (narrow ?? 0) - 1.5);
  checkSteps(t, narrowing, 0.01);
  const [first, last] = [narrowing[0], narrowing.at(-1)].map((pair = []) => Math.max(...pair.map(widthOf)));
  t.true((first as number) > 0.65 && (last as number) < 0.65, `${first} and ${last}`);
});

test('short speech has a score of its own, of contributions that add up, and a wide interval', (t) => {
  const run = fc.tuple(
    fc.double({ min: 0.25, max: 2, noNaN: true }),
    fc.double({ min: 0.5, max: 3, noNaN: true }),
  );
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 3 }), (runs) =>
      shippedIndices(runs).every((index) => {
        const { score, contributions, interval } = index;
        const sum = contributions.reduce((total, { effect }) => total + effect, 0.5);
        const [lower, upper] = interval;
        return score !== 0.5 && sum === score && lower <= score && score <= upper && widthOf(index) > 0.5;
      }),
    ),
  );
  t.pass();
});

// The shipped parameters of the cognitive indices, relative to a baseline.

const manifest = manifestSchema.parse(
  JSON.parse(readFileSync('models/standard/cognitive/manifest.json', 'utf8')),
);
const { params: relativeParams } = manifest as ManifestOf<'cognitive'>;

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
    relativeParams.cognitiveLoad,
    relativeParams,
    baseline === null ? null : measured(baseline),
  );
const processing = (recording: Values, baseline: Values): Index =>
  computeIndex(measured(recording), relativeParams.processing, relativeParams, measured(baseline));

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
    Object.entries(relativeParams.reference).map(([name, entry]) => [name, entry.median]),
  );
  const more = { ...median, pause_ratio: (median.pause_ratio as number) + 0.1 };
  const [alone, compared] = [load(more, null).score - 0.5, load(more, median).score - 0.5];
  t.true(alone > 0.02 && Math.abs(compared / alone - 1) < 0.01, `${compared} with it, ${alone} alone`);
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
