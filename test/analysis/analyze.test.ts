/** A report of one recording, through the whole pipeline: its audio, its baseline, signals without a model. */

import { readFileSync } from 'node:fs';
import test from 'ava';
import { speechFile } from '../../benchmarks/speech.ts';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { fixture } from '../../scripts/recordings.ts';
import { defaultOptions } from '../../src/engine/options.ts';
import { EngineError } from '../../src/engine/platform.ts';
import {
  type CombinedReport,
  combinedReportSchema,
  reportSchemas,
  type SignalReport,
  signalReport,
} from '../../src/engine/report.ts';
import { soundsLikeAnother, speechCepstrum } from '../../src/engine/signals/speaker.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { limits, reporter, samplesOf, speech } from '../support/analysis.ts';
import { noEmotion, withoutEmotion } from '../support/models.ts';
import { stereo } from '../support/recordings.ts';

const reportOf = await reporter();
const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });

test('a recording of speech gives a full report that fits its schema', async (t) => {
  const report = combinedReportSchema.parse(await reportOf(fixture('mono-16k.wav')));
  t.is(report.status, 'ok');
  t.true(Object.keys(report.cognitive.measures).length >= 8);
  t.true(report.audio.speech_s > 0.6 * report.audio.duration_s);
});

test('a baseline without speech is an error of the part `baseline`', async (t) => {
  const audio = fixture('mono-16k.wav');
  const error = await t.throwsAsync(
    reportOf(audio, { baselines: [wavFile(new Float32Array(48_000), 16_000)] }),
    {
      instanceOf: EngineError,
    },
  );
  t.is(error?.at, 'baseline');
});

test('the cancel flag stops the analysis', async (t) => {
  const error = await t.throwsAsync(reportOf(fixture('mono-16k.wav'), { cancel: Int32Array.of(1) }), {
    instanceOf: EngineError,
  });
  t.is(error?.code, 'stopped');
});

// The audio block and its warnings, through the whole pipeline, on speech with known noise, level, clipping and band.

const rate = 16_000;
const voice = samplesOf('mono-16k.wav');

const scaled = (samples: Float32Array, gain: number) => samples.map((sample) => gain * sample);
const analyze = (samples: Float32Array, sampleRate = rate) => reportOf(wavFile(samples, sampleRate));
type EmotionSignals = Extract<CombinedReport['emotion']['signals'], { dominant_emotion: string }>;
type CognitiveSignals = Extract<CombinedReport['cognitive']['signals'], { clarity: number }>;
const warningsOf = ({ emotion }: CombinedReport) => emotion.warnings;

/** Mean power of the 20 ms frames above a tenth of the mean: speech without its pauses. */
function spokenPower(samples: Float32Array): number {
  const powers: number[] = [];
  for (let at = 0; at + 320 <= samples.length; at += 320) {
    powers.push(samples.subarray(at, at + 320).reduce((sum, sample) => sum + sample * sample, 0) / 320);
  }
  const mean = powers.reduce((sum, power) => sum + power, 0) / powers.length;
  const loud = powers.filter((power) => power > 0.1 * mean);
  return loud.reduce((sum, power) => sum + power, 0) / loud.length;
}

function withNoise(samples: Float32Array, decibels: number): Float32Array {
  const amplitude = Math.sqrt((3 * spokenPower(samples)) / 10 ** (decibels / 10));
  let state = 5;
  return samples.map((sample) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return sample + amplitude * (state / 2 ** 31 - 1);
  });
}

for (const decibels of [5, 10, 15, 20, 30]) {
  test(`speech ${decibels} dB over white noise is measured within 3 dB`, async (t) => {
    const { audio } = await analyze(withNoise(scaled(voice, 0.4), decibels));
    t.true(Math.abs((audio.snr_db ?? Number.NaN) - decibels) < 3, `${audio.snr_db}`);
  });
}

test('an SNR below 10 dB warns and widens every interval of a learned score', async (t) => {
  const [clean, noisy] = [await analyze(scaled(voice, 0.4)), await analyze(withNoise(scaled(voice, 0.4), 5))];
  t.false(warningsOf(clean).includes('low_snr'));
  t.true(warningsOf(noisy).includes('low_snr'));
  const widths = ({ emotion, cognitive }: CombinedReport) => {
    const { valence, arousal } = (emotion.signals as EmotionSignals).intervals;
    const { clarity } = (cognitive.signals as CognitiveSignals).intervals;
    return [valence, arousal, clarity].map((bounds) => (bounds?.[1] ?? 0) - (bounds?.[0] ?? 0));
  };
  const wide = widths(noisy);
  t.true(widths(clean).every((width, index) => width < (wide[index] as number)));
});

test('the clipped ratio is the share of clipped samples', async (t) => {
  const loud = scaled(voice, 8 / voice.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0));
  const cut = loud.filter((sample) => Math.abs(sample) >= 1).length / loud.length;
  const clipped = await analyze(loud);
  t.true(
    Math.abs(clipped.audio.clipped_ratio - cut) < 0.25 * cut,
    `${clipped.audio.clipped_ratio} for ${cut}`,
  );
  t.true(warningsOf(clipped).includes('clipped'));
  t.is((await analyze(scaled(voice, 0.5))).audio.clipped_ratio, 0);
});

// Recordings with a baseline, through the whole pipeline.

const say = (name: string) => wavFile(speech(name, 5));

const baselineReportOf = (audio: Uint8Array, ...baselines: readonly Uint8Array[]) =>
  channelReportOf(null, audio, ...baselines);

async function channelReportOf(
  channel: number | null,
  audio: Uint8Array,
  ...baselines: readonly Uint8Array[]
): Promise<SignalReport<'cognitive'>> {
  const request = {
    ...defaultOptions,
    audio,
    baselines,
    channel,
    signals: ['cognitive'],
    cancel: null,
  } as const;
  const [analysis] = await analyzer.analyze(request);
  return signalReport('cognitive', analysis, 'test');
}

const effectOf = (report: SignalReport<'cognitive'>, name: string) =>
  report.contributions.cognitive_load.find(({ measure }) => measure === name)?.effect;

const rested = say('fox');

test('a recording as its own baseline is neutral and the same speaker', async (t) => {
  const report = await baselineReportOf(rested, rested);
  t.like(report.signals, { cognitive_load: 0.5, processing: 0.5 });
  for (const name of ['pause_ratio', 'mean_run', 'pitch_level', 'pitch_range', 'spectral_tilt']) {
    t.is(effectOf(report, name), 0, name);
  }
  t.false(report.warnings.includes('baseline_other_speaker'));
});

test('several baselines count as their mean, in any order', async (t) => {
  const fast = say('en-us-190');
  const others = [say('low-1'), say('en-us+m4-140'), say('low-1')];
  const [one, again] = [
    await baselineReportOf(fast, ...others),
    await baselineReportOf(fast, ...others.reverse()),
  ];
  t.deepEqual(one.signals, again.signals);
  t.true(one.relative);
  t.not(
    one.signals.cognitive_load,
    (await baselineReportOf(fast, others[0] as Uint8Array)).signals.cognitive_load,
  );
  t.deepEqual(
    (await baselineReportOf(fast, rested, rested)).signals,
    (await baselineReportOf(fast, rested)).signals,
  );
});

test('a baseline is read from the channel of the recording, or from its only channel', async (t) => {
  const other = speech('high-1', 5);
  const own = speech('fox', 5).subarray(0, other.length);
  const call = stereo(other, own, 16_000);
  const alone = await channelReportOf(1, call, wavFile(own));
  t.false(alone.warnings.includes('baseline_other_speaker'));
  t.deepEqual(await channelReportOf(1, call, call), alone);
});

test('a male and a female voice are different speakers', async (t) => {
  const report = await baselineReportOf(say('high-1'), rested);
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

// Models without a signal: its status says so, with the reason, and the others are complete.

const sample = readFileSync('examples/sample.wav');
const none = { status: 'not_available', reason: noEmotion, signals: {}, timeline: [] };

test('a report has the reason and no scores of the signal', async (t) => {
  const report = await (await reporter(await withoutEmotion(t)))(sample);
  t.like(report.emotion, none);
  t.is(report.status, 'ok');
  t.is(report.cognitive.status, 'ok');
  t.deepEqual(combinedReportSchema.parse(report), report);
});

test('the report of the signal alone', async (t) => {
  const analyzer = await createAnalyzer({ modelsDir: await withoutEmotion(t), limits });
  const request = {
    ...defaultOptions,
    audio: sample,
    baselines: [],
    signals: ['emotion'],
    cancel: null,
  } as const;
  const [analysis] = await analyzer.analyze(request);
  t.deepEqual(analysis.results, {}, 'nothing is inferred');
  const report = signalReport('emotion', analysis, 'test');
  t.like(report, none);
  t.deepEqual(reportSchemas.emotion.parse(report), report);
});

test('too little speech is the status of the recording', async (t) => {
  const report = await (await reporter(await withoutEmotion(t)))(sample.subarray(0, 4044));
  t.is(report.status, 'insufficient_speech');
  t.is(report.cognitive.status, 'insufficient_speech');
  t.is(report.emotion.status, 'not_available');
});

const rule = {
  minSpeechSeconds: 5,
  directions: [
    [1, 2, 0],
    [0, 0, 3],
  ],
  threshold: 40,
};
const speaker = (semitones: number | null, cepstrum: readonly number[], speechSeconds = 6) => ({
  measures: semitones === null ? {} : { pitch_level: { value: semitones, unit: 'semitones re 27.5 Hz' } },
  cepstrum,
  speechSeconds,
});

test('the cepstrum is the orthonormal cosine transform of the mean spectrum of the segments', (t) => {
  const bins = 8;
  // The second cosine of eight bins, once with each sign outside the segment, and a gain.
  const cosine = (bin: number) => Math.cos(((Math.PI * 2) / bins) * (bin + 0.5));
  const data = Float32Array.from({ length: 4 * bins }, (_, at) => {
    const frame = Math.floor(at / bins);
    return 5 + (frame === 1 || frame === 2 ? cosine(at % bins) : 100 * (at % bins));
  });
  const [first, second] = speechCepstrum({ data, bins }, [{ start: 1, end: 3 }]);
  t.true(Math.abs(first ?? 9) < 1e-6);
  t.true(Math.abs((second ?? 9) - Math.sqrt(bins / 2)) < 1e-6);
});

test('another speaker: above the threshold and with enough speech in both', (t) => {
  t.true(soundsLikeAnother(speaker(30, [1, 2]), speaker(32, [2, 4]), rule));
  t.false(soundsLikeAnother(speaker(30, [1, 2]), speaker(30, [2, 4]), rule));
  t.false(soundsLikeAnother(speaker(null, [1, 2]), speaker(32, [2, 9]), rule));
  t.false(soundsLikeAnother(speaker(30, [1, 2]), speaker(32, [2, 4], 4.9), rule));
  t.false(soundsLikeAnother(speaker(30, [1, 2], 4.9), speaker(32, [2, 4]), rule));
});
