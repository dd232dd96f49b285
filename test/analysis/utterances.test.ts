import test from 'ava';
import fc from 'fast-check';
import { fixture } from '../../scripts/recordings.ts';
import { findSegments, type Segment, unbounded } from '../../src/analysis/segments.ts';
import { cutRuns, cutUtterances, type Utterance } from '../../src/analysis/utterances.ts';
import { reporter } from '../support/analysis.ts';

const framesPerSecond = 100;
const params = { windowSeconds: 10, marginSeconds: 0.2 };

type Span = readonly [start: number, end: number];
const toSegments = (spans: readonly Span[]): Segment[] => spans.map(([start, end]) => ({ start, end }));
const toSpan = ({ start, end }: Segment): Span => [start, end];

function detectedOf(spans: readonly Span[], quiet: readonly Span[] = []) {
  const speechProbability = new Float32Array(6000).fill(1);
  for (const [start, end] of quiet) speechProbability.fill(0.5, start, end);
  return { segments: toSegments(spans), speechProbability, framesPerSecond };
}

const cut = (spans: readonly Span[], quiet: readonly Span[] = [], bounds = unbounded, previousEnd?: number) =>
  cutUtterances(detectedOf(spans, quiet), params, [bounds], previousEnd);
const spansOf = (utterances: readonly Utterance[]) => utterances.map(toSpan);

test('an utterance is a run of speech between pauses, and its window has 0.2 s more on both sides', (t) => {
  t.deepEqual(
    cut([
      [8, 60],
      [90, 1046],
    ]),
    [
      { start: 8, end: 60, window: { start: -12, end: 80 }, speechFrames: 52, cause: 'pause' },
      { start: 90, end: 1046, window: { start: 68, end: 1066 }, speechFrames: 956, cause: 'pause' },
    ],
  );
});

test('windows begin at a multiple of 4 frames', (t) => {
  for (let start = 100; start < 110; start++) {
    const [{ window }] = cut([[start, 200]]) as [Utterance];
    t.is(window.start, Math.floor((start - 20) / 4) * 4);
  }
});

test('a window stays within the bounds, and an utterance does not cross them', (t) => {
  const detected = detectedOf([
    [5, 195],
    [205, 295],
  ]);
  const bounds = toSegments([
    [0, 100],
    [100, 300],
  ]);
  t.deepEqual(
    cutUtterances(detected, params, bounds).map(({ start, end, window, cause }) => [
      start,
      end,
      toSpan(window),
      cause,
    ]),
    [
      [5, 100, [0, 100], 'end'],
      [100, 195, [100, 215], 'pause'],
      [205, 295, [184, 300], 'pause'],
    ],
  );
});

test('speech that a window does not hold is cut in the middle of its clearest dip', (t) => {
  const speech: Span = [100, 2400];
  const quiet: Span[] = [
    [300, 320],
    [840, 850],
    [900, 904],
    [1500, 1510],
  ];
  t.deepEqual(
    cut([speech], quiet).map(({ start, end, window, cause }) => [start, end, toSpan(window), cause]),
    [
      [100, 844, [80, 844], 'length'],
      [844, 1504, [844, 1504], 'length'],
      [1504, 2400, [1504, 2420], 'pause'],
    ],
  );
});

test('cut speech fits into windows, and each part has at least half a second', (t) => {
  const lengths = [956, 957, 1000, 1920, 5000];
  const dips: Span[][] = [[], [[900, 911]], [[955, 965]]];
  for (const length of lengths) {
    for (const quiet of dips) {
      const utterances = cut([[0, length]], quiet);
      t.is(utterances.length > 1, length > 956);
      t.true(
        utterances.every(({ start, end, window }) => end - start >= 50 && window.end - window.start <= 1000),
      );
      t.deepEqual([utterances[0]?.start, utterances.at(-1)?.end], [0, length]);
      t.deepEqual(
        utterances.slice(1).map(({ start }) => start),
        utterances.slice(0, -1).map(({ end }) => end),
      );
    }
  }
});

test('a run of under 0.5 s is joined with the next within 1 s', (t) => {
  const joined = cut([
    [0, 49],
    [149, 160],
  ]);
  t.deepEqual(spansOf(joined), [[0, 160]]);
  t.is(joined[0]?.speechFrames, 60);
  t.deepEqual(
    spansOf(
      cut([
        [0, 49],
        [150, 200],
      ]),
    ),
    [[150, 200]],
  );
  t.deepEqual(
    spansOf(
      cut([
        [0, 20],
        [60, 80],
        [120, 140],
        [200, 300],
      ]),
    ),
    [
      [0, 140],
      [200, 300],
    ],
  );
});

test('a run of under 0.5 s that is nearer to an utterance that has ended belongs to it, and changes nothing', (t) => {
  const spans: Span[] = [
    [0, 100],
    [130, 160],
    [191, 291],
  ];
  t.deepEqual(spansOf(cut(spans)), [
    [0, 100],
    [191, 291],
  ]);
  const near = spans.with(2, [190, 290]);
  t.deepEqual(spansOf(cut(near)), [
    [0, 100],
    [130, 290],
  ]);
  const later = spans.slice(1);
  t.deepEqual(spansOf(cut(later)), [[130, 291]]);
  t.deepEqual(spansOf(cut(later, [], unbounded, 100)), [[191, 291]]);
});

test('what comes later changes no utterance that a pause or its length has ended', (t) => {
  const vad = { onset: 0.6, offset: 0.4, minSpeechSeconds: 0.1, minPauseSeconds: 0.25 };
  const cutTo = (speech: Float32Array, end: number) => {
    const speechProbability = speech.subarray(0, end);
    const segments = findSegments(speechProbability, framesPerSecond, vad);
    return cutUtterances({ segments, speechProbability, framesPerSecond }, params, [{ ...unbounded, end }]);
  };
  const level = fc.constantFrom(0, 0.2, 0.5, 0.9, 1);
  const stretch = fc.tuple(
    level,
    fc.oneof(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 300, max: 1500 })),
  );
  let ended = 0;
  fc.assert(
    fc.property(fc.array(stretch, { minLength: 1, maxLength: 12 }), (stretches) => {
      const speech = Float32Array.from(
        stretches.flatMap(([value, count]) => new Array<number>(count).fill(value)),
      );
      const all = cutTo(speech, speech.length);
      for (let now = 0; now < speech.length; now += 20) {
        const isDue = ({ end, cause }: Utterance) => cause !== 'length' && end <= now - 50;
        const over = cutTo(speech, now).filter((one) => one.cause === 'length' || isDue(one));
        ended += over.length;
        t.deepEqual(over, all.slice(0, over.length));
        t.false(all.slice(over.length).some(isDue));
      }
    }),
    { seed: 1, numRuns: 60 },
  );
  t.true(ended > 1000, `${ended}`);
});

test('a recording without an utterance has all its runs, each with its margins', (t) => {
  const runs = (spans: readonly Span[]) => cutRuns({ segments: toSegments(spans), framesPerSecond }, params);
  t.is(runs([]), null);
  t.deepEqual(
    runs([
      [0, 30],
      [60, 90],
      [400, 440],
    ]),
    {
      start: 0,
      end: 440,
      windows: toSegments([
        [-20, 50],
        [50, 110],
        [380, 460],
      ]),
      speechFrames: 100,
    },
  );
  const many = runs(Array.from({ length: 30 }, (_, run): Span => [200 * run, 200 * run + 40]));
  t.is(many?.windows.length, 12, 'up to what the trunk reads');
  t.is(many?.end, 2240);
  t.is(many?.speechFrames, 480);
});

test('the timeline of a report has its utterances, from the start of a run of speech to the end of one', async (t) => {
  const { emotion, segments } = await (await reporter())(fixture('speech.wav'));
  const spoken = segments.filter(({ type }) => type === 'speech');
  const spans = spoken.map(
    ({ start_s, end_s }): Span => [Math.round(100 * start_s), Math.round(100 * end_s)],
  );
  t.true(spans.length > 1);
  t.true(spans.every(([start, end]) => end - start <= 960));
  t.deepEqual(
    emotion.timeline.map(({ start_s, end_s }) => [Math.round(100 * start_s), Math.round(100 * end_s)]),
    spansOf(cut(spans)),
  );
});
