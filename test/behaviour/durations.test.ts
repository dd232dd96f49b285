/** Recordings of 0.5 s to 15 minutes, as documented in docs/models.md. */
import test, { type ExecutionContext } from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { type CombinedReport, combinedReportSchema } from '../../src/engine/report.ts';
import { reporter, samplesOf } from '../support/analysis.ts';

const rate = 16_000;
const report = await reporter();
const speech = samplesOf('mono-16k.wav').slice(rate / 2);

/** The recording, repeated up to a length. */
function speechOf(seconds: number): Uint8Array {
  const samples = new Float32Array(Math.round(seconds * rate));
  for (let at = 0; at < samples.length; at += speech.length) {
    samples.set(speech.subarray(0, Math.min(speech.length, samples.length - at)), at);
  }
  return wavFile(samples, rate);
}

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
    const found = combinedReportSchema.parse(await report(speechOf(seconds)));
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
  const one = signalsOf(await report(speechOf(1)));
  const ten = signalsOf(await report(speechOf(10)));
  const sixty = signalsOf(await report(speechOf(60)));
  for (const name of ['valence', 'arousal', 'clarity'] as const) {
    t.true(Math.abs(ten[name] - sixty[name]) < 0.05, name);
  }
  const width = ([low, high]: readonly number[] = []) => (high as number) - (low as number);
  t.true(width(one.intervals.valence) > width(ten.intervals.valence));
});

test('a few seconds of halting speech raise load and lower processing, with a warning', async (t) => {
  const halting = new Float32Array(20 * rate);
  for (let run = 0; run < 10; run++) {
    halting.set(speech.subarray(0, 0.6 * rate), 2 * run * rate);
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
