import test from 'ava';
import { findSegments, type Segment } from '../../src/analysis/segments.ts';
import { cutWindows } from '../../src/analysis/windows.ts';

const params = { onset: 0.6, offset: 0.4, minSpeechSeconds: 0.1, minPauseSeconds: 0.25 };
const windowParams = { windowSeconds: 10, edgeSeconds: 0.2, minWindowSpeechSeconds: 0.25 };
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

test('windows are equal, at most the limit, and cover the speech with its edges', (t) => {
  const windows = cutWindows([{ start: 100, end: 2600 }], 3000, 100, windowParams);
  t.deepEqual(
    windows.map(({ start, end }) => [start, end]),
    [
      [80, 926],
      [926, 1773],
      [1773, 2620],
    ],
  );
  t.is(
    windows.reduce((sum, { speechFrames }) => sum + speechFrames, 0),
    2500,
  );
});

test('edges extend beyond the recording, not beyond the bounds', (t) => {
  const cut = (bounds?: Segment) => cutWindows([{ start: 5, end: 295 }], 300, 100, windowParams, bounds);
  t.deepEqual(cut(), [{ start: -15, end: 315, speechFrames: 290 }]);
  t.deepEqual(cut({ start: 0, end: 300 }), [{ start: 0, end: 300, speechFrames: 290 }]);
});

test('edges beyond the recording do not add a window', (t) => {
  const cut = (end: number) => cutWindows([{ start: 0, end }], end, 100, windowParams);
  t.deepEqual(cut(1000), [{ start: 0, end: 1000, speechFrames: 1000 }]);
  t.deepEqual(cut(980), [{ start: -10, end: 990, speechFrames: 980 }]);
  t.deepEqual(
    cut(1001).map(({ start, end }) => [start, end]),
    [
      [-20, 500],
      [500, 1021],
    ],
  );
});

test('a window without speech is dropped', (t) => {
  const windows = cutWindows(
    [
      { start: 0, end: 500 },
      { start: 3500, end: 4000 },
    ],
    4000,
    100,
    windowParams,
  );
  t.deepEqual(
    windows.map(({ start }) => start),
    [0, 3000],
  );
});

test('windows with too little speech are kept when there is no other', (t) => {
  const thin = [0, 1, 2].map((index) => ({ start: 1000 * index + 500, end: 1000 * index + 520 }));
  t.deepEqual(
    cutWindows(thin, 3000, 100, windowParams).map(({ speechFrames }) => speechFrames),
    [20, 20, 20],
  );
});
