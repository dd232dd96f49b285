import test from 'ava';
import { type IndexWithInterval, scoreIndices } from '../../../src/analysis/signals/index-intervals.ts';
import { measureRuns } from '../../../src/analysis/signals/measures.ts';
import { indexParams, indexWeights } from '../../support/indices.ts';

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
  const standard = { params: indexParams, baseline: null };
  const [index] = scoreIndices([indexWeights], measured, { segments, framesPerSecond }, standard);
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
  const [index] = scoreIndices([indexWeights], measured, timing, standard);
  const [lower, upper] = (index as IndexWithInterval).interval;
  t.true(upper - lower < 0.05, `${lower} ${upper}`);
});
