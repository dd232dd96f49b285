import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { ManifestOf } from '../../../src/engine/manifest.ts';
import { type IndexWithInterval, scoreIndices } from '../../../src/engine/signals/indices.ts';
import {
  addSyllables,
  measureRuns,
  measureTiming,
  noSyllables,
  runsOf,
} from '../../../src/engine/signals/measures.ts';
import type { Segment } from '../../../src/engine/speech.ts';
import { readManifests } from '../../../src/node/models.ts';
import { indexParams, indexWeights } from '../../support/indices.ts';

const framesPerSecond = 100;
const manifests = await readManifests('models/standard');
const { params: shipped } = manifests.find(({ kind }) => kind === 'cognitive') as ManifestOf<'cognitive'>;

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
  const standard = { params: indexParams, baseline: null };
  const [index] = scoreIndices(
    [indexWeights],
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
  const standard = { params: { ...indexParams, priorSeconds: 1e-9 }, baseline: null };
  const timing = { segments: equal, framesPerSecond };
  const [index] = scoreIndices([indexWeights], measured, runsOf(timing, { minTurnSeconds: 0.2 }), standard);
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
      t.true((of[at] as number) > 0.02, `${of[at]} at ${seconds} s`);
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
  checkSteps(t, grow([], 2), 0.012);
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
