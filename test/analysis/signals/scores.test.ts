/** Scores, and the interval of each. */

import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { wavFile } from '../../../benchmarks/upload-body.ts';
import { cognitiveConfidence, seemsScripted } from '../../../src/engine/signals/cognitive.ts';
import { degradationsOf, interval } from '../../../src/engine/signals/intervals.ts';
import { toneOf } from '../../../src/engine/signals/tone.ts';
import { recordingWarnings } from '../../../src/engine/warnings.ts';
import { version } from '../../../src/node/paths.ts';
import { openApiDocument } from '../../../src/service/api/document.ts';
import { analyze, decode } from '../../../src/tools/index.ts';
import type { Document, Schema } from '../../support/contract.ts';

const params = { base: 0.1, short: 0.5, noise: 0.2, narrow: 0.3, clipped: 0.4 };
const fitted = { fullSpeechSeconds: 3, cleanSnrDb: 25, fullBandwidthHz: 7000, fullyClippedRatio: 0.01 };
const good = { speechSeconds: 10, snrDb: 25, bandwidthHz: 7000, clippedRatio: 0 };
const halfWidth = (change: object) => {
  const [lower, upper] = interval(0.5, params, degradationsOf({ ...good, ...change }, fitted));
  return (upper - lower) / 2;
};
const near = (t: ExecutionContext, value: number, expected: number) =>
  t.true(Math.abs(value - expected) < 1e-9, `${value} for ${expected}`);

test('a good recording has the base half-width, and a better one has the same', (t) => {
  near(t, halfWidth({}), 0.1);
  near(t, halfWidth({ speechSeconds: 600, snrDb: 60, bandwidthHz: 8000 }), 0.1);
});

test('each degradation widens the interval by its own exponent', (t) => {
  near(t, halfWidth({ speechSeconds: 0.75 }), 0.1 * 4 ** 0.5);
  near(t, halfWidth({ snrDb: 5 }), 0.1 * Math.exp(0.4));
  near(t, halfWidth({ bandwidthHz: 3500 }), 0.1 * 2 ** 0.3);
  near(t, halfWidth({ clippedRatio: 0.005 }), 0.1 * Math.exp(0.2));
  near(t, halfWidth({ clippedRatio: 0.5 }), 0.1 * Math.exp(0.4));
  near(t, halfWidth({ snrDb: null }), halfWidth({ snrDb: 0 }));
});

test('an interval stays in [0, 1]', (t) => {
  t.deepEqual(interval(0.05, { ...params, base: 0.2 }, degradationsOf(good, fitted)), [0, 0.25]);
  t.deepEqual(interval(0.9, params, degradationsOf({ ...good, speechSeconds: 0.01 }, fitted)), [0, 1]);
});

const toneParams = {
  lowArousal: 0.4,
  highArousal: 0.6,
  veryLowValence: 0.3,
  lowValence: 0.45,
  highValence: 0.55,
};

test('tone is the word of the point, or neutral when the dominant emotion contradicts it', (t) => {
  const cases = [
    ['happy', 0.55, 0.6, 'engaged'],
    ['happy', 0.55, 0.39, 'calm'],
    ['happy', 0.55, 0.4, 'neutral'],
    ['happy', 0.54, 0.6, 'neutral'],
    ['sad', 0.44, 0.39, 'subdued'],
    ['sad', 0.1, 0.6, 'neutral'],
    ['angry', 0.3, 0.6, 'tense'],
    ['angry', 0.29, 0.6, 'distressed'],
    ['neutral', 0.26, 0.6, 'neutral'],
    ['calm', 0.26, 0.3, 'neutral'],
  ] as const;
  for (const [emotion, valence, arousal, tone] of cases)
    t.is(toneOf(emotion, { valence, arousal }, toneParams), tone);
});

const source = {
  container: 'wav',
  codec: 'pcm_s16le',
  sampleRate: 16000,
  channels: 2,
  clippedRatio: 0,
  channelCorrelation: 1,
  truncated: false,
  unreadData: false,
  missingSeconds: 0,
  track: 0,
  tracks: 1,
  averaged: true,
  trackChosen: false,
};
const warnings = {
  minSnrDb: 10,
  maxClippedRatio: 0.001,
  minBandwidthHz: 4500,
  audibleDbfs: -50,
  minChannelCorrelation: 0.5,
};
const spoken = { snrDb: 30, bandwidthHz: 7000, severalSpeakers: false };
const warningsOf = (
  sourceChange: object,
  spokenChange: object | null,
  { level = -20, voice = 3 }: { level?: number; voice?: number | null } = {},
) =>
  recordingWarnings(
    {
      source: { ...source, ...sourceChange },
      spoken: spokenChange === null ? null : { ...spoken, ...spokenChange },
      voiceLogOdds: voice,
      levelDbfs: level,
    },
    { minVoice: 0, warnings },
  );

test('a good recording has no warning', (t) => {
  t.deepEqual(warningsOf({}, {}), []);
  t.deepEqual(warningsOf({}, { snrDb: null }), []);
});

const bounds = [
  ['low_snr', {}, { snrDb: 10 }, {}, { snrDb: 9.9 }],
  ['clipped', { clippedRatio: 0.001 }, {}, { clippedRatio: 0.0011 }, {}],
  ['narrow_band', {}, { bandwidthHz: 4500 }, {}, { bandwidthHz: 4499 }],
  ['channels_differ', { channelCorrelation: 0.5 }, {}, { channelCorrelation: 0.49 }, {}],
  ['several_tracks', { tracks: 2, trackChosen: true }, {}, { tracks: 2 }, {}],
  ['several_speakers', {}, {}, {}, { severalSpeakers: true }],
  ['speakers_not_compared', {}, {}, {}, { severalSpeakers: null }],
  ['truncated', {}, {}, { truncated: true }, {}],
  ['unread_data', {}, {}, { unreadData: true }, {}],
  ['gaps', {}, {}, { missingSeconds: 0.1 }, {}],
] as const;

for (const [name, source, speech, badSource, badSpeech] of bounds) {
  test(`${name} is absent at its bound and present beyond it`, (t) => {
    t.deepEqual(warningsOf(source, speech), []);
    t.deepEqual(warningsOf(badSource, badSpeech), [name]);
  });
}

test('without speech, music_or_noise starts at -50 dBFS', (t) => {
  t.deepEqual(warningsOf({}, null, { voice: null, level: -50 }), ['music_or_noise']);
  t.deepEqual(warningsOf({}, null, { voice: null, level: -50.1 }), []);
});

test('with speech, however little, music_or_noise depends on the voice', (t) => {
  for (const enough of [{}, null]) {
    t.deepEqual(warningsOf({}, enough, { voice: 0 }), []);
    t.deepEqual(warningsOf({}, enough, { voice: -0.1 }), ['music_or_noise']);
  }
});

test('one channel cannot differ from itself', (t) => {
  t.deepEqual(warningsOf({ channels: 1, channelCorrelation: 0 }, {}), []);
});

const measured = (run: number, ratio: number, speechSeconds: number) => ({
  measures: { mean_run: { value: run, unit: 's' }, pause_ratio: { value: ratio, unit: 'ratio' } },
  speechSeconds,
});
const scripted = { minSpeechSeconds: 10, minMeanRun: 3, maxPauseRatio: 0.2 };

test('long runs with few pauses over enough speech seem scripted', (t) => {
  t.true(seemsScripted(measured(3, 0.2, 10), scripted));
  t.false(seemsScripted(measured(2.9, 0.2, 10), scripted));
  t.false(seemsScripted(measured(3, 0.21, 10), scripted));
  t.false(seemsScripted(measured(3, 0.2, 9.9), scripted));
  t.false(seemsScripted({ measures: {}, speechSeconds: 60 }, scripted));
});

test('confidence follows its documented rule', (t) => {
  const params = { priorSeconds: 20, reference: {}, scriptedConfidence: 0.75 };
  near(t, cognitiveConfidence(measured(2, 0.2, 20), params, [0.4, 0.6], false), 0.5 * 0.8);
  near(t, cognitiveConfidence(measured(2, 0.2, 60), params, [0.4, 0.6], true), 0.75 * 0.8 * 0.75);
});

// Every score has an interval, which is wide where the recording says little.

const { samples } = decode(readFileSync('examples/sample.wav'));
const speech = (seconds: number) =>
  wavFile(Float32Array.from({ length: 16_000 * seconds }, (_, at) => samples[at % samples.length] ?? 0));
/** The numbers that are scores: `confidence` is none. */
const scores = {
  emotion: ['valence', 'arousal'],
  cognitive: ['cognitive_load', 'clarity', 'processing'],
} as const;

type Signals = Readonly<Record<string, unknown>> & {
  readonly intervals: Readonly<Record<string, readonly [number, number]>>;
};

test('every number of the documented signals is a score with an interval, or the confidence', (t) => {
  const { schemas } = (openApiDocument(version) as Document).components;
  const numbers = { ...schemas.EmotionSignals?.properties, ...schemas.CognitiveSignals?.properties };
  const isNumber = ({ type, anyOf = [] }: Schema): boolean =>
    [type].flat().includes('number') || (anyOf as Schema[]).some(isNumber);
  const names = Object.keys(numbers).filter((name) => isNumber(numbers[name] as Schema));
  t.deepEqual(names.sort(), [...scores.emotion, ...scores.cognitive, 'confidence'].sort());
});

for (const seconds of [2, 40]) {
  test(`${seconds} s of speech: each score is inside its interval`, async (t) => {
    const report = await analyze(speech(seconds));
    for (const signal of ['emotion', 'cognitive'] as const) {
      const signals = report[signal]?.signals as Signals;
      t.deepEqual(Object.keys(signals.intervals).sort(), [...scores[signal]].sort(), signal);
      for (const name of scores[signal]) {
        const [low, high] = signals.intervals[name] as readonly [number, number];
        const value = signals[name] as number;
        t.true(0 <= low && low <= value && value <= high && high <= 1, `${name} ${low} ${value} ${high}`);
      }
    }
  });
}

type Cognitive = NonNullable<Awaited<ReturnType<typeof analyze>>['cognitive']>;
type CognitiveSignals = Exclude<Cognitive['signals'], Record<string, never>>;

function indicesOf({ signals }: Cognitive): number[] {
  const { cognitive_load, processing, intervals } = signals as CognitiveSignals;
  return [cognitive_load, processing, ...intervals.cognitive_load, ...intervals.processing];
}

test('load and processing of a few seconds have contributions, wide intervals and a warning', async (t) => {
  const scores: number[] = [];
  for (let second = 0; second < 36; second += 4) {
    const clip = samples.subarray(second * 16_000, (second + 2 + second / 16) * 16_000);
    const { emotion, cognitive } = await analyze(wavFile(clip));
    t.is(emotion?.status, 'ok');
    t.true(cognitive?.warnings.includes('insufficient_speech_cognitive'));
    const { signals, contributions, reference } = cognitive as Cognitive;
    const { intervals, ...values } = signals as CognitiveSignals;
    for (const name of ['cognitive_load', 'processing'] as const) {
      const [low, high] = intervals[name];
      t.true(high - low > 0.65, `${name} ${low} ${high}`);
      const sum = contributions[name].reduce((total, { effect }) => total + effect, reference);
      t.true(Math.abs(sum - values[name]) < 1e-9, `${name} ${sum} ${values[name]}`);
      scores.push(values[name]);
    }
    const [low, high] = intervals.clarity;
    t.true(high - low < 0.9, `clarity ${low} ${high}`);
  }
  t.false(scores.includes(0.5), scores.join());
  // Two may agree in four digits.
  t.true(new Set(scores).size >= scores.length - 1, scores.join());
});

/** From the middle of a run. */
const fluent = samples.subarray(16_000 * 10.7, 16_000 * 14.7);

/** Eight runs of 1.1 s with pauses between them, and a run of `seconds`. */
function halting(seconds: number): Float32Array {
  const runs = new Float32Array(16_000 * (16 + seconds));
  for (let run = 0; run < 8; run++) {
    runs.set(fluent.subarray(4800 * run, 4800 * run + 17_600), 16_000 * (0.3 + run * 1.9));
  }
  runs.set(fluent.subarray(0, 16_000 * seconds), 16_000 * 15.5);
  return runs;
}

function withoutPause(seconds: number): Float32Array {
  return Float32Array.from({ length: 16_000 * seconds }, (_, at) => fluent[at % fluent.length] as number);
}

const growing = {
  '10 s of speech': { from: 1, to: 2.4, step: 0.1, cut: halting },
  'an interval of 0.65': { from: 18, to: 32, step: 1, cut: withoutPause },
};

for (const [what, { from, to, step, cut }] of Object.entries(growing)) {
  test(`the warning ends at ${what}, and no score jumps`, async (t) => {
    const warned: boolean[] = [];
    let before: readonly number[] | null = null;
    for (let seconds = from; seconds <= to; seconds += step) {
      const { cognitive } = await analyze(wavFile(cut(seconds)));
      warned.push((cognitive as Cognitive).warnings.includes('insufficient_speech_cognitive'));
      const found = indicesOf(cognitive as Cognitive);
      const far = Math.max(...found.map((value, at) => Math.abs(value - (before?.[at] ?? value))));
      t.true(far < 0.015, `${far} at ${seconds} s: ${found} after ${before}`);
      before = found;
    }
    t.deepEqual([warned[0], warned.at(-1)], [true, false]);
  });
}
