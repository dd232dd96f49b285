/** Recordings beside a baseline, through the whole pipeline. */
import test from 'ava';
import { speechFile } from '../../benchmarks/speech.ts';
import { wavFile } from '../../benchmarks/wav.ts';
import { defaultOptions } from '../../src/engine/chunks.ts';
import { EngineError } from '../../src/engine/platform.ts';
import { type SignalReport, signalReport } from '../../src/engine/report.ts';
import type { Signal } from '../../src/engine/schema.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { limits, speech } from '../support/analysis.ts';

const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });

const say = (name: string) => wavFile(speech(name, 5));

async function analyze<S extends Signal>(
  signal: S,
  audio: Uint8Array,
  baselines: readonly Uint8Array[],
): Promise<SignalReport<S>> {
  const request = { audio, baselines, ...defaultOptions, signals: [signal], cancel: null };
  const [analysis] = await analyzer.analyze(request);
  return signalReport(signal, analysis, 'test');
}

const reportOf = (audio: Uint8Array, ...baselines: readonly Uint8Array[]) =>
  analyze('cognitive', audio, baselines);
const emotionOf = (audio: Uint8Array, ...baselines: readonly Uint8Array[]) =>
  analyze('emotion', audio, baselines);

const effectOf = (report: SignalReport<'cognitive'>, name: string) =>
  report.contributions.cognitive_load.find(({ measure }) => measure === name)?.effect;

const rested = say('fox');
/** One utterance. */
const sentence = wavFile(speech('high-2').subarray(0, 24_000));

test('a recording as its own baseline is neutral and the same speaker', async (t) => {
  const report = await reportOf(rested, rested);
  t.like(report.signals, { cognitive_load: 0.5, processing: 0.5 });
  for (const name of ['pause_ratio', 'mean_run', 'pitch_level', 'pitch_range', 'spectral_tilt']) {
    t.is(effectOf(report, name), 0, name);
  }
  t.false(report.warnings.includes('baseline_other_speaker'));
});

test('several baselines count as their mean, in any order', async (t) => {
  const fast = say('en-us-190');
  const others = [say('low-1'), say('en-us+m4-140'), say('low-1')];
  const [one, again] = [await reportOf(fast, ...others), await reportOf(fast, ...others.reverse())];
  t.deepEqual(one.signals, again.signals);
  t.true(one.relative);
  t.not(one.signals.cognitive_load, (await reportOf(fast, others[0] as Uint8Array)).signals.cognitive_load);
  t.deepEqual((await reportOf(fast, rested, rested)).signals, (await reportOf(fast, rested)).signals);
});

test('a male and a female voice are different speakers', async (t) => {
  const report = await reportOf(say('high-1'), rested);
  t.true(report.warnings.includes('baseline_other_speaker'));
  t.true(report.relative);
});

test('audio and baselines together are at most as long as the limit', async (t) => {
  const request = {
    ...defaultOptions,
    signals: ['cognitive'],
    cancel: null,
    limits: { seconds: 40 },
  } as const;
  const baselines = [speechFile(10), speechFile(9)];
  const [analysis] = await analyzer.analyze({ ...request, audio: speechFile(21), baselines });
  t.is(analysis.audio.seconds, 21);
  for (const lengths of [
    [22, 10, 9],
    [1, 20, 20],
    [39, 2],
  ]) {
    const [audio, ...others] = lengths.map((seconds) => speechFile(seconds)) as [Buffer, ...Buffer[]];
    const analyzed = analyzer.analyze({ ...request, audio, baselines: others });
    const error = await t.throwsAsync<EngineError>(analyzed, { instanceOf: EngineError });
    t.like(error, {
      at: 'baseline',
      code: 'too_long',
      message: 'Expected at most 40 s for `audio` and `baseline` together, got more',
    });
  }
});

test('emotion is relative to a baseline, and its scores stay as they are', async (t) => {
  const [alone, beside] = [await emotionOf(say('high-1')), await emotionOf(say('high-1'), sentence)];
  t.is(alone.relative, null);
  t.deepEqual(beside.signals, alone.signals);
  t.deepEqual(beside.moments, alone.moments);
  const atRest = (await emotionOf(sentence)).timeline;
  t.is(atRest.length, 1);
  for (const name of ['valence', 'arousal'] as const) {
    const change = beside.relative?.[name];
    const scores = [beside.signals[name], atRest[0]?.[name]] as number[];
    t.true(Math.abs(Number(change?.change) - (Number(scores[0]) - Number(scores[1]))) < 2e-4, name);
    const [lower = 0, upper = 0] = change?.interval ?? [];
    t.true(lower < Number(change?.change) && Number(change?.change) < upper);
    t.is(Math.sign(Number(change?.spreads)), Math.sign(Number(change?.change)));
  }
  for (const { relative } of beside.timeline) t.is(relative?.to, 'baseline');
});

test('a recording of one utterance as its own baseline has changed by nothing', async (t) => {
  const { relative, timeline } = await emotionOf(sentence, sentence);
  t.like(relative, { valence: { change: 0, spreads: 0 }, arousal: { change: 0, spreads: 0 } });
  t.like(timeline[0]?.relative, { valence: { change: 0 }, arousal: { change: 0 } });
});

test('a baseline with little speech, in no utterance, counts', async (t) => {
  const samples = new Float32Array(16_000 * 4);
  for (const at of [0.3, 1.6, 2.9]) samples.set(speech('fox').subarray(16_000, 22_400), at * 16_000);
  const short = wavFile(samples);
  t.is((await emotionOf(short)).timeline.length, 1);
  t.is((await emotionOf(say('high-1'), short)).relative?.to, 'baseline');
});
