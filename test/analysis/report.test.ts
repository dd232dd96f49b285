import test from 'ava';
import fc from 'fast-check';
import type { Analysis } from '../../src/engine/aggregate.ts';
import {
  combinedReport,
  combinedReportSchema,
  reportSchemas,
  signalReport,
} from '../../src/engine/report.ts';
import { readManifests } from '../../src/node/models.ts';

const share = fc.double({ min: 0, max: 1, noNaN: true });
const effect = fc.double({ min: -0.2, max: 0.2, noNaN: true });
const manifests = await readManifests('models/standard');
const emotion = manifests.find(({ kind }) => kind === 'emotion');
const cognitive = manifests.find(({ kind }) => kind === 'cognitive');

function analysisOf(shares: readonly number[], effects: readonly number[], score: number): Analysis {
  const total = shares.reduce((sum, value) => sum + value, 0);
  const probabilities = shares.map((value) => value / total);
  const index = {
    score: effects.reduce((sum, value) => sum + value, 0.5),
    contributions: effects.map((value, at) => ({
      measure: `m${at}`,
      value,
      effect: value,
      source: 'a study',
    })),
    interval: [0, 1],
  } as const;
  const intervals = { valence: [0, score], arousal: [0, 1] } as const;
  if (emotion === undefined || cognitive === undefined) throw new Error('Expected the shipped models');
  return {
    unassigned: [],
    audio: {
      seconds: 3,
      speechSeconds: 2,
      levelDbfs: -20.04,
      snrDb: null,
      bandwidthHz: 7000.4,
      source: {
        container: 'wav',
        codec: 'pcm_s16le',
        sampleRate: 16000,
        channels: 1,
        clippedRatio: 0,
        channelCorrelation: 1,
        truncated: false,
        unreadData: false,
        track: 0,
        tracks: 1,
      },
    },
    results: {
      emotion: {
        labels: emotion.labels ?? [],
        probabilities,
        valence: score,
        arousal: 1 - score,
        intervals,
        timeline: [
          { start: 0, end: 3, probabilities, valence: score, arousal: score, intervals, relative: null },
        ],
        moments: [],
        relative: null,
        tone: 'engaged',
        uncalibrated: false,
        lowConfidence: true,
        unlikeTraining: false,
        shortSpeech: true,
      },
      cognitive: {
        clarity: score,
        interval: [score, 1],
        insufficient: false,
        cognitiveLoad: index,
        processing: index,
        measures: { pause_ratio: { value: score, unit: 'ratio' } },
        confidence: score,
        relative: false,
        shortSpeech: false,
        scripted: true,
        otherSpeaker: true,
      },
    },
    span: {
      segments: [
        { start: 20, end: 120 },
        { start: 150, end: 250 },
      ],
      missing: [],
      framesPerSecond: 100,
      speechSeconds: 2,
    },
    embeddings: null,
    samplesSha256: null,
    insufficientSpeech: false,
    warnings: [],
    models: { emotion, cognitive },
    stages: [],
  };
}

test('every report fits its schema; printed probabilities sum to 1 and effects to the score', (t) => {
  const shares = fc.array(fc.double({ min: 1e-6, max: 1, noNaN: true }), { minLength: 7, maxLength: 7 });
  fc.assert(
    fc.property(shares, fc.array(effect, { minLength: 1, maxLength: 2 }), share, (parts, effects, score) => {
      const analysis = analysisOf(parts, effects, score);
      const first = reportSchemas.emotion.parse(signalReport('emotion', analysis, 'r'));
      const second = reportSchemas.cognitive.parse(signalReport('cognitive', analysis, 'r'));
      combinedReportSchema.parse(combinedReport(analysis, 'r'));
      const sum = Object.values((first.signals as { emotions: Record<string, number> }).emotions).reduce(
        (total, value) => total + Math.round(value * 10_000),
        0,
      );
      const load = second.contributions.cognitive_load.reduce(
        (total, part) => total + Math.round(part.effect * 10_000),
        0,
      );
      const printed = (second.signals as { cognitive_load: number }).cognitive_load;
      return sum === 10_000 && Math.round(second.reference * 10_000) + load === Math.round(printed * 10_000);
    }),
  );
  t.pass();
});

test('a cognitive report names the recordings whose clarity was rated', (t) => {
  const analysis = analysisOf([1, 1, 1, 1, 1, 1, 1], [0], 0.5);
  const { cognitive: shipped } = analysis.models;
  const read = 'English sentences read aloud by Mandarin speakers';
  t.is(signalReport('cognitive', analysis, 'r').clarity_rated_on, read);
  const params = { ...shipped.params, clarityRatedOn: 'calls' };
  const models = { ...analysis.models, cognitive: { ...shipped, params } as typeof shipped };
  t.is(combinedReport({ ...analysis, models }, 'r').cognitive.clarity_rated_on, 'calls');
});

test('too little speech: empty signals and the seconds of speech', (t) => {
  const analysis = {
    ...analysisOf([1, 1, 1, 1, 1, 1, 1], [0], 0.5),
    results: {},
    insufficientSpeech: true,
  };
  const report = combinedReport(analysis, 'r');
  t.is(report.status, 'insufficient_speech');
  t.deepEqual(report.emotion.signals, {});
  t.deepEqual(report.cognitive.signals, {});
  t.is(report.audio.speech_s, 2);
});

test('segments of speech and pauses cover the recording', (t) => {
  const { segments } = combinedReport(analysisOf([1, 1, 1, 1, 1, 1, 1], [0], 0.5), 'r');
  t.deepEqual(segments, [
    { type: 'pause', start_s: 0, end_s: 0.2 },
    { type: 'speech', start_s: 0.2, end_s: 1.2 },
    { type: 'pause', start_s: 1.2, end_s: 1.5 },
    { type: 'speech', start_s: 1.5, end_s: 2.5 },
    { type: 'pause', start_s: 2.5, end_s: 3 },
  ]);
});
