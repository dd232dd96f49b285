/** Analysis in pieces says what analysis of the whole says. */
import test, { type ExecutionContext } from 'ava';
import type { AnalyzeRequest } from '../src/analysis.ts';
import { createAnalyzer } from '../src/analyze.ts';
import { analyzePieces } from '../src/long.ts';
import { loadModels } from '../src/models/registry.ts';
import { combinedReport } from '../src/report.ts';
import { limits, samplesOf } from './support/analysis.ts';
import { toneFile } from './support/upload.ts';
import { wavFile } from './support/wav.ts';

const request: Omit<AnalyzeRequest, 'audio'> = {
  baseline: null,
  channel: null,
  signals: ['emotion', 'cognitive'],
  cancel: null,
};

/** Speech with pauses between, over and over. */
function talk(seconds: number): Buffer {
  const speech = samplesOf('speech.wav');
  const samples = new Float32Array(seconds * 16_000);
  for (let at = 0, turn = 0; at < samples.length; at += speech.length + 9000 + 700 * (turn++ % 7)) {
    samples.set(speech.subarray(0, samples.length - at), at);
  }
  return wavFile(samples);
}

const long = { ...limits, seconds: 3600, deadlineSeconds: 0 };

test.serial('eight minutes in pieces are eight minutes as a whole', async (t) => {
  const models = await loadModels('models');
  const analyzer = await createAnalyzer({ modelsDir: 'models', limits });
  const audio = talk(490);
  const seen: (readonly [number, number | null])[] = [];
  const analysis = await analyzePieces({ ...request, audio }, models, long, (done, all) => {
    seen.push([Math.round(done), all]);
  });
  const pieces = combinedReport(analysis, 'x');
  const whole = combinedReport(await analyzer.analyze({ ...request, audio }), 'x');
  t.is(seen.length, 2);
  t.true((seen[0]?.[0] ?? 0) > 240 && (seen[0]?.[0] ?? 0) <= 300);
  t.deepEqual(seen[1], [490, 490]);
  t.deepEqual({ ...pieces.audio, snr_db: 0, speech_s: 0 }, { ...whole.audio, snr_db: 0, speech_s: 0 });
  near(t, 'speech', pieces.audio.speech_s, whole.audio.speech_s, 0.002 * whole.audio.speech_s);
  near(t, 'snr', pieces.audio.snr_db ?? 0, whole.audio.snr_db ?? 0, 3);
  for (const signal of ['emotion', 'cognitive'] as const) {
    const [one, other] = [pieces[signal], whole[signal]].map(({ signals }) => numbersOf(signals));
    for (const [name, value] of Object.entries(one ?? {})) {
      // Windows are cut elsewhere, and the likeliest emotion's share moves more than the scores do.
      const most = signal === 'emotion' && name === 'confidence' ? 0.03 : 0.01;
      near(t, name, value, other?.[name] ?? -1, most);
    }
    t.deepEqual(pieces[signal].warnings, whole[signal].warnings);
  }
  for (const [name, { value }] of Object.entries(whole.cognitive.measures)) {
    near(t, name, pieces.cognitive.measures[name]?.value ?? -1, value, 0.02 * Math.abs(value));
  }
  const { timeline } = pieces.emotion;
  t.true(
    timeline.every(
      ({ start_s, end_s }, index) => end_s > start_s && start_s >= (timeline[index - 1]?.end_s ?? 0),
    ),
  );
  t.true((timeline.at(-1)?.end_s ?? 0) > 480);
});

test.serial('a chunked analysis computes the requested signals alone', async (t) => {
  const models = await loadModels('models');
  const analyze = (change: Partial<AnalyzeRequest>) =>
    analyzePieces({ ...request, audio: talk(20), ...change }, models, long, () => {});
  const both = await analyze({});
  t.truthy(both.emotion);
  t.truthy(both.cognitive);
  // A baseline is for the cognitive signals: without them it is not decoded.
  const emotion = await analyze({ signals: ['emotion'], baseline: Buffer.from('no recording') });
  t.deepEqual([emotion.emotion, emotion.cognitive], [both.emotion, null]);
  const cognitive = await analyze({ signals: ['cognitive'] });
  t.deepEqual([cognitive.emotion, cognitive.cognitive], [null, both.cognitive]);
});

test.serial('hours of no speech are told as such', async (t) => {
  const models = await loadModels('models');
  const analysis = await analyzePieces({ ...request, audio: toneFile(400) }, models, long, () => {});
  const report = combinedReport(analysis, 'x');
  t.is(report.status, 'insufficient_speech');
  t.deepEqual(report.emotion.warnings, ['music_or_noise']);
  t.is(report.audio.duration_s, 400);
});

test.serial(
  'what is up to 15 minutes long is analysed as a whole, and what is over the limit refused',
  async (t) => {
    const audio = talk(20);
    const analyzer = await createAnalyzer({ modelsDir: 'models', limits: { ...long, seconds: 15 } });
    const error = await t.throwsAsync(analyzer.analyzeUnlessLong({ ...request, audio }));
    t.is(error?.message, 'Expected at most 15 s of audio, got more');
    const wide = await createAnalyzer({ modelsDir: 'models', limits: long });
    const analysis = await wide.analyzeUnlessLong({ ...request, audio });
    t.deepEqual(
      analysis && combinedReport(analysis, 'x'),
      combinedReport(await wide.analyze({ ...request, audio }), 'x'),
    );
    t.is(await wide.analyzeUnlessLong({ ...request, audio: toneFile(901) }), null);
  },
);

function near(t: ExecutionContext, name: string, value: number, other: number, most: number): void {
  t.true(Math.abs(value - other) <= most, `${name}: ${value} and ${other}`);
}

function numbersOf(signals: object): Record<string, number> {
  return Object.fromEntries(Object.entries(signals).filter(([, value]) => typeof value === 'number'));
}
