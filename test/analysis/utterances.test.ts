import test from 'ava';
import { fixture } from '../../scripts/recordings.ts';
import { createAnalyzer } from '../../src/analysis/analyze.ts';
import type { EncodedWindow } from '../../src/analysis/encode.ts';
import { combinedReport } from '../../src/analysis/report.ts';
import type { Segment } from '../../src/analysis/segments.ts';
import type { SpeechAnalysis } from '../../src/analysis/speech.ts';
import { defaultOptions } from '../../src/analysis/types.ts';
import { collectSpans, cutUtterances } from '../../src/analysis/utterances.ts';
import { limits } from '../support/analysis.ts';

const speechOf = (segments: readonly Segment[], quiet: readonly Segment[] = []) => {
  const speechProbability = new Float32Array(6000).fill(1);
  for (const { start, end } of quiet) speechProbability.fill(0.5, start, end);
  return { segments, speechProbability, framesPerSecond: 100 } as unknown as SpeechAnalysis;
};

test('an utterance is the speech between two pauses; under 0.5 s there is none', (t) => {
  const segments = [
    { start: 0, end: 49 },
    { start: 80, end: 130 },
    { start: 200, end: 1200 },
  ];
  t.deepEqual(cutUtterances(speechOf(segments)), segments.slice(1));
});

test('speech over 10 s is cut in the middle of the clearest dip', (t) => {
  const speech = speechOf(
    [{ start: 100, end: 2400 }],
    [
      { start: 300, end: 320 },
      { start: 840, end: 850 },
      { start: 900, end: 904 },
      { start: 1500, end: 1510 },
    ],
  );
  t.deepEqual(cutUtterances(speech), [
    { start: 100, end: 845 },
    { start: 845, end: 1505 },
    { start: 1505, end: 2400 },
  ]);
});

test('a cut leaves at least 0.5 s', (t) => {
  const cut = cutUtterances(speechOf([{ start: 0, end: 1020 }], [{ start: 990, end: 1000 }]));
  t.true(cut.every(({ start, end }) => end - start >= 50 && end - start <= 1000));
  t.is(cut.length, 2);
});

function windowOf(firstFrame: number, count: number): EncodedWindow {
  const values = (width: number) =>
    Float32Array.from({ length: count * width }, (_, index) => firstFrame + 2 * Math.floor(index / width));
  return {
    window: { start: Math.max(0, firstFrame), end: firstFrame + 2 * count, speechFrames: 1 },
    firstFrame,
    embeddings: { data: values(3), shape: [1, count, 3] },
    weights: { data: values(1), shape: [1, count] },
  };
}

test('an utterance has the embeddings of every window whose middle it contains', (t) => {
  const spans = [
    { start: 1, end: 60 },
    { start: 90, end: 150 },
    { start: 200, end: 250 },
    { start: 300, end: 360 },
  ];
  const collector = collectSpans(spans, 2);
  const [inside, ...later] = collector.add(windowOf(-10, 60));
  t.deepEqual(later, []);
  const [across, ...unfinished] = collector.add(windowOf(110, 60));
  t.deepEqual(unfinished, []);
  const [cut, ...others] = collector.rest();
  t.is(cut?.weights.data.length, 15);
  t.deepEqual(others, [], 'a span without embeddings is left out');
  t.deepEqual(
    inside?.weights.data,
    Float32Array.from({ length: 30 }, (_, index) => 2 * index),
  );
  t.deepEqual(
    across?.weights.data,
    Float32Array.from({ length: 30 }, (_, index) => 90 + 2 * index),
  );
  t.deepEqual(across?.embeddings.shape, [1, 30, 3]);
  t.deepEqual([...(across?.embeddings.data.subarray(27, 33) ?? [])], [108, 108, 108, 110, 110, 110]);
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
