import test from 'ava';
import { calibrationError, ccc, estimate, mean, pcc, uar } from '../../src/tools/evaluate/statistics.ts';

const speakers = (count: number) => Array.from({ length: count }, (_, at) => `speaker ${at}`);
const close = (t: { true(value: boolean, message?: string): unknown }, got: number, expected: number) =>
  t.true(Math.abs(got - expected) < 1e-9, `${got}, not ${expected}`);

test('UAR is the mean recall of the labels that occur', (t) => {
  const labels = [
    ['a', 'a'],
    ['a', 'b'],
    ['a', 'a'],
    ['a', 'a'],
    ['b', 'b'],
    ['b', 'c'],
  ].map(([truth = '', predicted = '']) => ({ truth, predicted }));
  close(t, estimate(uar, labels, speakers(6)).value, (0.75 + 0.5) / 2);
});

test('CCC counts a shift, PCC does not', (t) => {
  const pairs = [0.1, 0.2, 0.3, 0.4].map((truth) => ({ truth, predicted: truth + 0.1 }));
  const variance = 0.0125;
  close(t, estimate(pcc, pairs, speakers(4)).value, 1);
  close(t, estimate(ccc, pairs, speakers(4)).value, (2 * variance) / (2 * variance + 0.01));
});

test('the calibration error is weighted by recordings', (t) => {
  const answers = [
    { confidence: 0.95, correct: true },
    { confidence: 0.95, correct: false },
    { confidence: 0.25, correct: false },
    { confidence: 1, correct: true },
  ];
  close(t, estimate(calibrationError, answers, speakers(4)).value, (Math.abs(2.9 - 2) + 0.25) / 4);
});

test('intervals are drawn over speakers, and repeatable', (t) => {
  const values = Array.from({ length: 200 }, (_, at) => at % 2);
  const many = estimate(mean, values, speakers(200));
  const two = estimate(mean, values, values.map(String));
  t.deepEqual(estimate(mean, values, speakers(200)), many);
  const [low, high] = many.interval ?? [0, 0];
  t.true(low > 0.4 && low < 0.46 && high > 0.54 && high < 0.6, `${low} ${high}`);
  t.deepEqual(two.interval, [0, 1], 'each of the two speakers has one value');
  const one = estimate(
    mean,
    values,
    values.map(() => 'the only one'),
  );
  t.true((one.interval?.[0] ?? 0) > 0.4, 'recordings are drawn where there is one speaker');
});
