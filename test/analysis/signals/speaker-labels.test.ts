import test from 'ava';
import { type Labels, relativeProbabilities } from '../../../src/engine/signals/speaker-labels.ts';

const prior = { neutral: Math.log(0.8), sad: Math.log(0.1), angry: Math.log(0.1) };
const labels: Labels = {
  labels: ['neutral', 'sad', 'angry'],
  isPlain: [true, false, false],
  params: { prior, priorUtterances: 5 },
};
const utterance = (...probabilities: number[]) => ({ probabilities });
const repeat = <One>(count: number, one: One) => Array.from({ length: count }, () => one);
const near = (found: readonly number[] | null, expected: readonly number[]) =>
  found?.every((value, label) => Math.abs(value - (expected[label] as number)) < 1e-9) === true;

test('a speaker whose neutral speech is as others have it keeps the probabilities', (t) => {
  const usual = repeat(20, utterance(0.8, 0.1, 0.1));
  t.true(near(relativeProbabilities(utterance(0.3, 0.6, 0.1), usual, labels), [0.3, 0.6, 0.1]));
});

test('of a voice that sounds sad, what is as sad as ever is neutral', (t) => {
  const sad = utterance(0.45, 0.5, 0.05);
  const found = relativeProbabilities(sad, repeat(20, sad), labels) ?? [];
  // training/tests/test_speaker_labels.py has the same numbers.
  t.deepEqual(
    found.map((value) => value.toFixed(4)),
    ['0.7181', '0.1959', '0.0861'],
  );
  t.true((found[0] as number) > (found[1] as number), String(found));
  t.true(Math.abs(found.reduce((sum, value) => sum + value, 0) - 1) < 1e-9);
});

test('few utterances move little, and those without neutral nothing', (t) => {
  const sad = utterance(0.45, 0.5, 0.05);
  const neutralAfter = (count: number) =>
    relativeProbabilities(sad, repeat(count, sad), labels)?.[0] as number;
  t.true(0.45 < neutralAfter(1) && neutralAfter(1) < neutralAfter(5) && neutralAfter(5) < neutralAfter(40));
  const angry = repeat(20, utterance(0, 0, 1));
  t.true(near(relativeProbabilities(sad, angry, labels), sad.probabilities));
});

test('labels that the prior lacks, or that were not fitted, have none', (t) => {
  const one = utterance(0.5, 0.5, 0);
  t.is(relativeProbabilities(one, [one], { ...labels, labels: ['neutral', 'sad', 'upset'] }), null);
  t.is(relativeProbabilities(one, [one], { ...labels, params: null }), null);
});
