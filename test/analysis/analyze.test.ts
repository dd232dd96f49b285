import test, { type ExecutionContext } from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { fixture } from '../../scripts/recordings.ts';
import { type CombinedReport, combinedReportSchema } from '../../src/analysis/report.ts';
import { ServiceError } from '../../src/runtime/errors.ts';
import { reporter, samplesOf } from '../support/analysis.ts';

const reportOf = await reporter();

function scoresOf(report: CombinedReport): Record<string, number> {
  const emotion = report.emotion.signals as {
    valence: number;
    arousal: number;
  };
  const cognitive = report.cognitive.signals as {
    cognitive_load: number;
    clarity: number;
    processing: number;
  };
  return {
    valence: emotion.valence,
    arousal: emotion.arousal,
    cognitive_load: cognitive.cognitive_load,
    clarity: cognitive.clarity,
    processing: cognitive.processing,
  };
}

function emotionsOf(report: CombinedReport): Record<string, number> {
  return (report.emotion.signals as { emotions: Record<string, number> }).emotions;
}

function largestDifference(one: Record<string, number>, other: Record<string, number>): number {
  return Math.max(...Object.entries(one).map(([name, value]) => Math.abs(value - (other[name] ?? 9))));
}

/** Probabilities of eight labels vary more than scores. */
const emotionBound = 0.08;

async function unchanged(t: ExecutionContext, one: Uint8Array, other: Uint8Array): Promise<void> {
  const [left, right] = [await reportOf(one), await reportOf(other)];
  const scores = largestDifference(scoresOf(left), scoresOf(right));
  const emotions = largestDifference(emotionsOf(left), emotionsOf(right));
  t.true(scores < 0.05, `scores: ${scores}`);
  t.true(emotions < emotionBound, `emotions: ${emotions}`);
}

test('a recording of speech gives a full report that fits its schema', async (t) => {
  const report = combinedReportSchema.parse(await reportOf(fixture('mono-16k.wav')));
  t.is(report.status, 'ok');
  t.true(Object.keys(report.cognitive.measures).length >= 8);
  t.true(report.audio.speech_s > 0.6 * report.audio.duration_s);
});

const containers = ['cbr.mp3', 'aac.m4a', 'speech.flac', 'vorbis.ogg', 'opus.ogg', 'opus.webm'];

for (const name of containers) {
  test(`${name} scores like the WAV, within 0.05`, async (t) => {
    await unchanged(t, fixture('mono-16k.wav'), fixture(name));
  });
}

const changes: readonly (readonly [string, (samples: Float32Array) => Float32Array])[] = [
  ['12 dB less', (samples) => samples.map((sample) => sample / 4)],
  ['6 dB more', (samples) => samples.map((sample) => sample * 2)],
  [
    'a second of silence at either end',
    (samples) => {
      const padded = new Float32Array(samples.length + 32_000);
      padded.set(samples, 16_000);
      return padded;
    },
  ],
];

for (const [what, change] of changes) {
  test(`${what} changes no score by 0.05`, async (t) => {
    const quiet = samplesOf('mono-16k.wav').map((sample) => sample / 2);
    await unchanged(t, wavFile(quiet, 16_000), wavFile(change(quiet), 16_000));
  });
}

test('the same recording as its own baseline is neutral', async (t) => {
  const audio = fixture('mono-16k.wav');
  const { cognitive } = await reportOf(audio, { baseline: audio });
  t.true(cognitive.relative);
  t.like(cognitive.signals, { cognitive_load: 0.5, processing: 0.5 });
});

test('a baseline without speech is an error of the part `baseline`', async (t) => {
  const audio = fixture('mono-16k.wav');
  const error = await t.throwsAsync(
    reportOf(audio, { baseline: wavFile(new Float32Array(48_000), 16_000) }),
    {
      instanceOf: ServiceError,
    },
  );
  t.is(error?.problems[0]?.field, 'baseline');
});

test('the same bytes give the same report', async (t) => {
  const audio = fixture('cbr.mp3');
  t.is(JSON.stringify(await reportOf(audio)), JSON.stringify(await reportOf(audio)));
});

test('the cancel flag stops the analysis', async (t) => {
  const error = await t.throwsAsync(reportOf(fixture('mono-16k.wav'), { cancel: Int32Array.of(1) }), {
    instanceOf: ServiceError,
  });
  t.is(error?.code, 'deadline');
});

test('a long recording is cut into windows of at most 10 s', async (t) => {
  const samples = samplesOf('mono-16k.wav');
  const long = new Float32Array(samples.length * 8);
  for (let copy = 0; copy < 8; copy++) long.set(samples, copy * samples.length);
  const report = await reportOf(wavFile(long, 16_000));
  t.true(report.emotion.timeline.length >= long.length / 160_000 - 1);
  t.true(report.emotion.timeline.every(({ start_s, end_s }) => end_s - start_s <= 10.02));
});
