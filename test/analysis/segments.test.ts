import test from 'ava';
import { findSegments } from '../../src/engine/speech.ts';

const params = { onset: 0.6, offset: 0.4, minSpeechSeconds: 0.1, minPauseSeconds: 0.25 };
const frames = (...runs: readonly (readonly [number, number])[]) =>
  Float32Array.from(runs.flatMap(([probability, count]) => new Array<number>(count).fill(probability)));

test('speech opens at onset and holds down to offset', (t) => {
  const speech = frames([0.5, 50], [0.7, 20], [0.5, 30], [0.3, 50]);
  t.deepEqual(findSegments(speech, 100, params), [{ start: 50, end: 100 }]);
});

test('a gap of 0.24 s is speech, a gap of 0.25 s is a pause', (t) => {
  t.deepEqual(findSegments(frames([1, 50], [0, 24], [1, 50]), 100, params), [{ start: 0, end: 124 }]);
  t.is(findSegments(frames([1, 50], [0, 25], [1, 50]), 100, params).length, 2);
});

test('a click of 0.09 s is not speech', (t) => {
  t.deepEqual(findSegments(frames([0, 50], [1, 9], [0, 50]), 100, params), []);
});
