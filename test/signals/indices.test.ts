import test from 'ava';
import { computeIndex } from '../../src/signals/indices.ts';

const reference = {
  pause_ratio: { median: 0.2, spread: 0.1, unit: 'ratio', source: 'a study' },
  mean_run: { median: 2, spread: 1, unit: 's', source: 'another' },
};
const weights = {
  pause_ratio: { direction: 'up', weight: 3 },
  mean_run: { direction: 'down', weight: 1 },
} as const;
const measures = (pauseRatio: number, meanRun: number) => ({
  pause_ratio: { value: pauseRatio, unit: 'ratio' },
  mean_run: { value: meanRun, unit: 's' },
});

test('a speaker at the reference scores 0.5', (t) => {
  t.is(computeIndex(measures(0.2, 2), weights, reference, null).score, 0.5);
});

test('the score follows the closed form', (t) => {
  const { score, contributions } = computeIndex(measures(0.3, 2), weights, reference, null);
  t.is(score, 0.5 + (0.5 * 3) / 4 / Math.SQRT2);
  t.deepEqual(
    contributions.map(({ measure }) => measure),
    ['pause_ratio', 'mean_run'],
  );
});

test('the score rises with each upward measure and never leaves (0, 1)', (t) => {
  let last = 0;
  for (const ratio of [0, 0.1, 0.2, 0.5, 0.9, 0.99]) {
    const { score } = computeIndex(measures(ratio, 50 * (1 - ratio)), weights, reference, null);
    t.true(score > last && score < 1, `${ratio}: ${score}`);
    last = score;
  }
});

test('the same recording as its own baseline scores 0.5', (t) => {
  const own = measures(0.63, 0.4);
  t.is(computeIndex(own, weights, reference, own).score, 0.5);
});

test('an undefined measure has no effect', (t) => {
  const { contributions } = computeIndex({ mean_run: { value: 1, unit: 's' } }, weights, reference, null);
  t.deepEqual(
    contributions.map(({ measure }) => measure),
    ['mean_run'],
  );
});
