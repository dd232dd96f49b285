import test from 'ava';
import { fixture } from '../../scripts/recordings.ts';
import { createAnalyzer } from '../../src/analysis/analyze.ts';
import { combinedReport } from '../../src/analysis/report.ts';
import type { Segment } from '../../src/analysis/segments.ts';
import type { SpeechAnalysis } from '../../src/analysis/speech.ts';
import { defaultOptions } from '../../src/analysis/types.ts';
import { cutRuns, cutUtterances } from '../../src/analysis/utterances.ts';
import { limits } from '../support/analysis.ts';

const speechOf = (segments: readonly Segment[], quiet: readonly Segment[] = []) => {
  const speechProbability = new Float32Array(6000).fill(1);
  for (const { start, end } of quiet) speechProbability.fill(0.5, start, end);
  return { segments, speechProbability, framesPerSecond: 100 } as unknown as SpeechAnalysis;
};

const params = { windowSeconds: 10, marginSeconds: 0.2 };
const everything = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY };
const cut = (speech: SpeechAnalysis, bounds: readonly Segment[] = [everything]) =>
  cutUtterances(speech, params, bounds);
const spans = (speech: SpeechAnalysis, bounds?: readonly Segment[]) =>
  cut(speech, bounds).map(({ start, end }) => [start, end]);

test('an utterance is the speech between two pauses, and its window has 0.2 s of context', (t) => {
  const [first, second] = cut(
    speechOf([
      { start: 5, end: 130 },
      { start: 300, end: 400 },
    ]),
  );
  t.like(first, { start: 5, end: 130, speechFrames: 125, cause: 'pause', window: { start: -15, end: 150 } });
  t.like(second, { start: 300, end: 400, window: { start: 280, end: 420 } });
});

test('a run under 0.5 s is joined with the next within 1 s, unless an utterance that has ended is nearer', (t) => {
  const run = { start: 100, end: 140 };
  t.deepEqual(spans(speechOf([run, { start: 240, end: 400 }])), [[100, 400]]);
  t.deepEqual(spans(speechOf([run, { start: 241, end: 400 }])), [[241, 400]]);
  t.deepEqual(spans(speechOf([{ start: 0, end: 60 }, run, { start: 181, end: 400 }])), [
    [0, 60],
    [181, 400],
  ]);
  t.deepEqual(spans(speechOf([{ start: 0, end: 60 }, run, { start: 179, end: 400 }])), [
    [0, 60],
    [100, 400],
  ]);
});

test('runs under 0.5 s that are near each other are an utterance', (t) => {
  t.deepEqual(
    spans(
      speechOf([
        { start: 0, end: 30 },
        { start: 60, end: 90 },
      ]),
    ),
    [[0, 90]],
  );
});

test('a recording without an utterance is one of all its speech', (t) => {
  const speech = speechOf([
    { start: 100, end: 140 },
    { start: 300, end: 340 },
  ]);
  t.deepEqual(cut(speech), []);
  t.deepEqual(cutRuns(speech, params), {
    start: 100,
    end: 340,
    speechFrames: 80,
    windows: [
      { start: 80, end: 160 },
      { start: 280, end: 360 },
    ],
  });
  t.is(cutRuns(speechOf([]), params), null);
});

test('speech that does not fit into a window is cut in the middle of the clearest dip', (t) => {
  const dips = [
    { start: 300, end: 320 },
    { start: 840, end: 850 },
    { start: 900, end: 904 },
    { start: 1500, end: 1510 },
  ];
  const utterances = cut(speechOf([{ start: 100, end: 2400 }], dips));
  t.deepEqual(
    utterances.map(({ start, end, cause }) => [start, end, cause]),
    [
      [100, 845, 'length'],
      [845, 1505, 'length'],
      [1505, 2400, 'pause'],
    ],
  );
  t.true(utterances.every(({ window }) => window.end - window.start <= 1000));
});

test('a cut leaves at least 0.5 s', (t) => {
  const utterances = cut(speechOf([{ start: 0, end: 970 }], [{ start: 940, end: 950 }]));
  t.is(utterances.length, 2);
  t.true(utterances.every(({ start, end }) => end - start >= 50));
});

test('utterances and their windows stay inside bounds', (t) => {
  const own = [
    { start: 0, end: 110 },
    { start: 150, end: 400 },
  ];
  const found = cut(speechOf([{ start: 20, end: 390 }]), own);
  t.deepEqual(
    found.map(({ window }) => window),
    [
      { start: 0, end: 110 },
      { start: 150, end: 400 },
    ],
  );
});

test('the entries of the timeline are the speech of 0.5 s or more', async (t) => {
  const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });
  const [analysis] = await analyzer.analyze({
    ...defaultOptions,
    audio: fixture('speech.wav'),
    baselines: [],
    signals: ['emotion'],
    cancel: null,
  });
  const { emotion, segments } = combinedReport(analysis, 'x');
  const spoken = segments.filter(({ type, start_s, end_s }) => type === 'speech' && end_s - start_s >= 0.5);
  t.true(spoken.length > 1);
  const bounds = ({ start_s, end_s }: { start_s: number; end_s: number }) => [start_s, end_s];
  t.deepEqual(emotion.timeline.map(bounds), spoken.map(bounds));
});
