/** Utterances of a recording: where they begin and end. */
import test from 'ava';
import fc from 'fast-check';
import { fixture } from '../../scripts/recordings.ts';
import type { Values } from '../../src/engine/platform.ts';
import { type Segment, unbounded } from '../../src/engine/segments.ts';
import { findSegments } from '../../src/engine/speech.ts';
import { cutRuns, cutUtterances, encode, framesOf, type Utterance } from '../../src/engine/utterances.ts';
import { loadEncoder } from '../../src/node/models.ts';
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
      { start: 8, end: 60, window: { start: -16, end: 80 }, speechFrames: 52, cause: 'pause' },
      { start: 90, end: 1046, window: { start: 66, end: 1066 }, speechFrames: 956, cause: 'pause' },
    ],
  );
});

test('a trunk of two inputs reads both features of the same frames', async (t) => {
  const extractor = await loadEncoder('models/standard/vad', null);
  const filterbanks = { ...extractor.features, nMels: 40, removeDc: true, logBase: 'e' } as const;
  const samples = Float32Array.from(
    { length: 32_000 },
    (_, at) => Math.sin(0.07 * at) * Math.sin(at / 900) ** 2,
  );
  const recorded = {
    audio: { samples, sampleRate: extractor.features.sampleRate },
    speechProbability: new Float32Array(200).fill(1),
  };
  const windows = [
    { start: 10, end: 60, window: { start: -14, end: 80 } },
    { start: 110, end: 190, window: { start: 90, end: 210 } },
  ];
  t.is(framesOf(recorded, windows, extractor).filterbanks, null);
  const rows = framesOf(recorded, windows, { ...extractor, filterbanks });
  const alone = framesOf(recorded, windows, { ...extractor, features: filterbanks });
  t.deepEqual(rows.filterbanks, alone.data);
  const read: Record<string, Values> = {};
  const session = {
    inputs: ['features', 'filterbanks'],
    outputs: [],
    widths: {},
    run: async (inputs: Readonly<Record<string, Values>>) => {
      Object.assign(read, inputs);
      return { tokens: { data: new Float32Array(0), shape: [1, 0, 0] } };
    },
  };
  await encode(rows, { session, manifest: { params: { framesPerToken: 2 } } });
  const frames = rows.speechProbability.length;
  t.deepEqual(read.features, { data: rows.data, shape: [1, frames, 80] });
  t.deepEqual(read.filterbanks, { data: alone.data, shape: [1, frames, 40] });
});

test('equal sounds have equal frames, wherever they begin in the recording', async (t) => {
  const extractor = await loadEncoder('models/standard/vad', null);
  const { features: spec } = extractor;
  const sound = Float32Array.from(
    { length: 16_000 },
    (_, at) => Math.sin(0.07 * at) * Math.sin(at / 900) ** 2,
  );
  const rowsAt = (start: number) => {
    const samples = new Float32Array(32_000);
    samples.set(sound, start);
    const [first, last] = [
      Math.floor(start / spec.hopLength),
      Math.ceil((start + sound.length) / spec.hopLength),
    ];
    const audio = { samples, sampleRate: spec.sampleRate };
    const window = { start: first - 24, end: last + 20 };
    const { data, bins } = framesOf(
      { audio, speechProbability: new Float32Array(200).fill(1) },
      [{ start: first, end: last, window }],
      extractor,
    );
    const rows = Array.from({ length: data.length / bins }, (_, row) =>
      data.subarray(row * bins, (row + 1) * bins),
    );
    return rows.filter((row) => row.some((value) => value > -5));
  };
  const wanted = rowsAt(8000);
  t.true(wanted.length > 90);
  for (const start of [8001, 8040, 8079, 8160, 8333, 8500, 8640]) {
    const rows = rowsAt(start);
    t.is(rows.length, wanted.length, `from sample ${start}`);
    for (const [index, row] of rows.entries()) {
      const other = wanted[index] as Float32Array;
      t.true(
        row.every((value, bin) => Math.abs(value - (other[bin] as number)) < 1e-3),
        `from sample ${start}, row ${index}`,
      );
    }
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
      [205, 295, [181, 300], 'pause'],
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
      [100, 845, [76, 845], 'length'],
      [845, 1505, [845, 1505], 'length'],
      [1505, 2400, [1505, 2420], 'pause'],
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
      runs: [
        { start: 0, end: 30, window: { start: -24, end: 50 } },
        { start: 60, end: 90, window: { start: 50, end: 110 } },
        { start: 400, end: 440, window: { start: 376, end: 460 } },
      ],
      speechFrames: 100,
    },
  );
  const many = runs(Array.from({ length: 30 }, (_, run): Span => [200 * run, 200 * run + 40]));
  t.is(many?.runs.length, 11, 'up to what the trunk reads');
  t.is(many?.end, 2040);
  t.is(many?.speechFrames, 440);
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

const segmentParams = { onset: 0.6, offset: 0.4, minSpeechSeconds: 0.1, minPauseSeconds: 0.25 };
const frames = (...runs: readonly (readonly [number, number])[]) =>
  Float32Array.from(runs.flatMap(([probability, count]) => new Array<number>(count).fill(probability)));

test('speech opens at onset and holds down to offset', (t) => {
  const speech = frames([0.5, 50], [0.7, 20], [0.5, 30], [0.3, 50]);
  t.deepEqual(findSegments(speech, 100, segmentParams), [{ start: 50, end: 100 }]);
});

test('a gap of 0.24 s is speech, a gap of 0.25 s is a pause', (t) => {
  t.deepEqual(findSegments(frames([1, 50], [0, 24], [1, 50]), 100, segmentParams), [{ start: 0, end: 124 }]);
  t.is(findSegments(frames([1, 50], [0, 25], [1, 50]), 100, segmentParams).length, 2);
});

test('a click of 0.09 s is not speech', (t) => {
  t.deepEqual(findSegments(frames([0, 50], [1, 9], [0, 50]), 100, segmentParams), []);
});
