/** What length, cuts, pauses and place of speech change of a report, as documented in docs/models.md. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test, { type ExecutionContext } from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { fixture } from '../../scripts/recordings.ts';
import type { LiveState } from '../../src/engine/live.ts';
import type { LiveMessage } from '../../src/engine/live-messages.ts';
import { defaultOptions } from '../../src/engine/options.ts';
import { wavHeader } from '../../src/engine/pcm.ts';
import { type CombinedReport, combinedReport, combinedReportSchema } from '../../src/engine/report.ts';
import { decode } from '../../src/node/addon.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { limits, reporter, samplesOf, speech } from '../support/analysis.ts';
import { memoize } from '../support/memoize.ts';
import { outburst } from '../support/recordings.ts';

const rate = 16_000;
const report = await reporter();
const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });
const sentence = samplesOf('mono-16k.wav').slice(rate / 2);

/** The recording, repeated up to a length. */
function speechOf(seconds: number): Uint8Array {
  const samples = new Float32Array(Math.round(seconds * rate));
  for (let at = 0; at < samples.length; at += sentence.length) {
    samples.set(sentence.subarray(0, Math.min(sentence.length, samples.length - at)), at);
  }
  return wavFile(samples, rate);
}

const reportOf = memoize((seconds: number) => report(speechOf(seconds)));

type Place = { readonly start_s: number; readonly end_s: number };

/** Windows in order, without overlap, inside the recording, none over 10 s (and a frame). */
function checkTimeline(t: ExecutionContext, timeline: readonly Place[], seconds: number): void {
  let last = 0;
  for (const { start_s, end_s } of timeline) {
    t.true(start_s >= last && end_s > start_s && end_s - start_s <= 10.02, `${start_s} to ${end_s}`);
    last = end_s;
  }
  t.true(last <= seconds + 0.01);
  t.true(timeline.length <= Math.ceil(seconds / 4) + 1, `${timeline.length} windows`);
}

function signalsOf({ emotion, cognitive }: CombinedReport) {
  return {
    ...(emotion.signals as { valence: number; arousal: number; intervals: Record<string, number[]> }),
    clarity: (cognitive.signals as { clarity: number }).clarity,
  };
}

for (const seconds of [0.5, 1, 3, 10, 60, 900]) {
  test(`${seconds} s: finite scores and a timeline in order`, async (t) => {
    const found = combinedReportSchema.parse(await reportOf(seconds));
    t.is(found.audio.duration_s, seconds);
    if (seconds >= 1) t.is(found.status, 'ok');
    if (found.status !== 'ok') t.deepEqual([found.emotion.signals, found.emotion.timeline], [{}, []]);
    checkTimeline(t, found.emotion.timeline, seconds);
    t.is(found.emotion.warnings.includes('short_speech'), found.status === 'ok' && found.audio.speech_s < 3);
    t.is(
      found.cognitive.warnings.includes('short_speech'),
      found.status === 'ok' && found.audio.speech_s < 10,
    );
    t.true(JSON.stringify(found.emotion.timeline).length <= 10_000 * Math.ceil(seconds / 60));
  });
}

test('repeated speech scores alike at 10 s and 60 s, and 1 s has wider intervals', async (t) => {
  const one = signalsOf(await reportOf(1));
  const ten = signalsOf(await reportOf(10));
  const sixty = signalsOf(await reportOf(60));
  for (const name of ['valence', 'arousal', 'clarity'] as const) {
    t.true(Math.abs(ten[name] - sixty[name]) < 0.05, name);
  }
  const width = ([low, high]: readonly number[] = []) => (high as number) - (low as number);
  t.true(width(one.intervals.valence) > width(ten.intervals.valence));
});

test('a few seconds of halting speech raise load and lower processing, with a warning', async (t) => {
  const halting = new Float32Array(20 * rate);
  for (let run = 0; run < 10; run++) {
    halting.set(sentence.subarray(0, 0.6 * rate), 2 * run * rate);
  }
  const { audio, cognitive } = combinedReportSchema.parse(await report(wavFile(halting, rate)));
  t.true(audio.speech_s > 3 && audio.speech_s < 10, `${audio.speech_s} s`);
  t.true(cognitive.warnings.includes('insufficient_speech_cognitive'));
  if (!('intervals' in cognitive.signals)) return t.fail('Expected signals');
  const { cognitive_load, processing, intervals } = cognitive.signals;
  t.true(cognitive_load > 0.55 && processing < 0.45, `load ${cognitive_load}, processing ${processing}`);
  for (const [lower, upper] of [intervals.cognitive_load, intervals.processing]) {
    t.true(upper - lower > 0.3, `${lower} to ${upper}`);
  }
});

// A recording that starts or ends within speech scores like one with silence around it.

type EmotionSignals = Readonly<{ valence: number; arousal: number; emotions: Record<string, number> }>;

const bound = 0.06;
const second = new Float32Array(rate);
const amidSpeech = samplesOf('speech.wav').subarray(0.5 * rate, 2.5 * rate);

function scoresOf({ emotion, cognitive }: CombinedReport): Record<string, number> {
  const feeling = emotion.signals as EmotionSignals;
  const { clarity } = cognitive.signals as { clarity: number };
  return { valence: feeling.valence, arousal: feeling.arousal, clarity, ...feeling.emotions };
}

async function scoresWith(before: Float32Array, after: Float32Array): Promise<Record<string, number>> {
  const samples = Float32Array.from([...before, ...amidSpeech, ...after]);
  return scoresOf(await report(wavFile(samples, rate)));
}

const none = new Float32Array(0);

for (const [name, before, after] of [
  ['before', second, none],
  ['after', none, second],
  ['around', second, second],
] as const) {
  test(`a second of silence ${name} changes no score by more than ${bound}`, async (t) => {
    const [plain, silent] = [await scoresWith(none, none), await scoresWith(before, after)];
    t.is(Object.keys(plain).length, 10);
    for (const [score, value] of Object.entries(plain)) {
      const moved = Math.abs((silent[score] as number) - value);
      t.true(moved <= bound, `${score} moves by ${moved.toFixed(3)}`);
    }
  });
}

test('the timeline stays inside the recording', async (t) => {
  const { emotion } = await report(wavFile(amidSpeech, rate));
  const start = emotion.timeline[0]?.start_s ?? -1;
  t.true(start >= 0 && start <= 0.1, `${start}`);
  t.true((emotion.timeline.at(-1)?.end_s ?? 0) <= 2);
});

const files = ['mono-16k.wav', 'cbr.mp3', 'opus.webm'];

test('one analyzer, several recordings: each report is that of a new analyzer', async (t) => {
  const shared = await reporter();
  const alone = memoize(async (name: string) => (await reporter())(fixture(name)));
  for (const name of [...files, ...files.toReversed()])
    t.deepEqual(await shared(fixture(name)), await alone(name), name);
});

// Moments: what sounds more emotional than the rest of the recording, wherever it is asked for.

const loud = outburst(true);
const even = outburst(false);

async function reportsOf(audio: Uint8Array, channels: 'split' | null = null) {
  const request = { ...defaultOptions, audio, channels, baselines: [], cancel: null };
  const analyses = await analyzer.analyze({ ...request, signals: ['emotion', 'cognitive'] });
  return analyses.map((analysis) => combinedReport(analysis, '').emotion);
}

function isLoud({ start_s, end_s }: { readonly start_s: number; readonly end_s: number }): boolean {
  return start_s >= loud.start && end_s <= loud.start + 2;
}

test('an outburst among plain utterances is the moment of a recording, and without it there is none', async (t) => {
  const [emotion] = await reportsOf(wavFile(loud.samples));
  t.is(emotion?.moments?.length, 1);
  const [moment] = emotion?.moments ?? [];
  t.true(moment !== undefined && isLoud(moment));
  t.true(
    emotion?.timeline.some(({ start_s, end_s }) => start_s === moment?.start_s && end_s === moment.end_s),
  );
  t.is(emotion?.signals.dominant_emotion, 'neutral');
  const [others] = await reportsOf(wavFile(even.samples));
  t.deepEqual(others?.moments, []);
});

test('the moments of a channel are those of its speaker', async (t) => {
  const both = new Float32Array(2 * loud.samples.length);
  for (const [at, sample] of loud.samples.entries()) {
    both[2 * at] = even.samples[at] ?? 0;
    both[2 * at + 1] = sample;
  }
  const [first, second] = await reportsOf(wavFile(both, rate, 2), 'split');
  t.deepEqual(first?.moments, []);
  t.deepEqual(second?.moments?.map(isLoud), [true]);
});

test('a live session reports the moment with its turn', async (t) => {
  const format = { encoding: 'f32le', sampleRate: rate, channels: 1 } as const;
  const bytes = new Uint8Array(loud.samples.buffer);
  const turns: LiveMessage[] = [];
  let state: LiveState | null = null;
  const step = 4 * 0.25 * rate;
  for (let at = 0; at < bytes.length; at += step) {
    const isLast = at + step >= bytes.length;
    const output = await analyzer.live({
      format,
      bytes: bytes.subarray(at, at + step),
      state,
      signals: ['emotion'],
      split: false,
      speakers: null,
      measure: false,
      cause: isLast ? 'session.end' : null,
      cancel: null,
    });
    state = output.state;
    turns.push(...output.messages.filter(({ type }) => type === 'turn'));
  }
  const [emotion] = await reportsOf(Buffer.concat([wavHeader(format, bytes.length), bytes]));
  const flagged = turns.filter((turn) => 'moment' in (turn.emotion as object));
  t.is(turns.length, emotion?.timeline.length ?? 0);
  t.deepEqual(
    flagged.map(({ start_s }) => start_s),
    emotion?.moments?.map(({ start_s }) => start_s),
  );
});

// The direction in which known changes of speech move the indices.

/**
 * Words per minute, and the gap between words in tens of ms. Synthetic gaps are all equal: at 10 to 12 all of them lie at
 * the bound of a pause and cross it together.
 */
type Speaker = readonly [voice: string, words: number, gap: number];
const speakers: readonly Speaker[] = [
  ['en-us', 190, 0],
  ['en-gb+f3', 160, 0],
  ['en-us+m4', 140, 2],
  ['en-gb+f2', 120, 8],
  ['en-us+f1', 110, 14],
  ['en-gb+m2', 100, 18],
];
const maxBuffer = 2 ** 26;
/** So that there is speech enough for the indices. */
const minSeconds = 40;
const pauses = [0.4, 1.2, 0.8];

/** The sentences of a speaker, so often, and their indices. */
const speak = memoize(([voice, words]: Speaker) => {
  const name = `${voice}-${words}`;
  const repeats = Math.ceil((minSeconds * rate) / speech(name).length);
  const samples = speech(name, repeats);
  return { samples, repeats, indices: indicesOf(samples) };
});

function atTempo(samples: Float32Array, tempo: string): Float32Array {
  const options = ['-t', 'wav', '-', '-t', 'wav', '-', 'tempo', '-s', tempo];
  const input = wavFile(samples, rate);
  const faster = execFileSync('sox', options, { input, maxBuffer, stdio: ['pipe', 'pipe', 'ignore'] });
  return decode(faster, { sampleRate: rate, channel: null, track: null, limits, cancel: null }).samples;
}

async function indicesOf(samples: Float32Array): Promise<{ load: number; processing: number }> {
  const { cognitive } = await report(wavFile(samples, rate));
  assert.ok(!cognitive.warnings.includes('insufficient_speech_cognitive'));
  const { cognitive_load, processing } = cognitive.signals as Record<'cognitive_load' | 'processing', number>;
  return { load: cognitive_load, processing };
}

/** The quietest 60 ms of each of `count` equal parts: word gaps. */
function gapsOf(samples: Float32Array, count: number): number[] {
  const width = 0.06 * rate;
  return Array.from({ length: count }, (_, part) => {
    const from = Math.round(((part + 0.6) / (count + 0.2)) * samples.length);
    const to = Math.round(((part + 1.1) / (count + 0.2)) * samples.length) - width;
    let best = { at: from, energy: Number.POSITIVE_INFINITY };
    for (let at = from; at < to; at += rate / 100) {
      const energy = samples.subarray(at, at + width).reduce((sum, sample) => sum + sample * sample, 0);
      if (energy < best.energy) best = { at, energy };
    }
    return best.at + width / 2;
  });
}

function withPauses(samples: Float32Array, seconds: readonly number[]): Float32Array {
  const gaps = gapsOf(samples, seconds.length);
  const longer = new Float32Array(samples.length + rate * seconds.reduce((sum, pause) => sum + pause, 0));
  let from = 0;
  let to = 0;
  gaps.forEach((gap, index) => {
    longer.set(samples.subarray(from, gap), to);
    to += gap - from + (seconds[index] as number) * rate;
    from = gap;
  });
  longer.set(samples.subarray(from), to);
  return longer;
}

for (const speaker of speakers) {
  test(`pauses raise load and lower processing: ${speaker.join(' ')}`, async (t) => {
    const { samples, repeats, indices } = speak(speaker);
    const before = await indices;
    const after = await indicesOf(withPauses(samples, Array(repeats).fill(pauses).flat()));
    t.true(after.load - before.load > 0.01, `load ${before.load} to ${after.load}`);
    t.true(after.processing < before.processing, `processing ${before.processing} to ${after.processing}`);
  });
}

for (const speaker of speakers.slice(0, 5)) {
  test(`10 % faster or slower keeps load within 0.1: ${speaker.join(' ')}`, async (t) => {
    const { samples, indices } = speak(speaker);
    const before = await indices;
    for (const tempo of ['0.9', '1.1']) {
      const after = await indicesOf(atTempo(samples, tempo));
      t.true(Math.abs(after.load - before.load) < 0.1, `load ${before.load} to ${after.load} at ${tempo}`);
    }
  });
}
