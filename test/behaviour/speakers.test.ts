/** `speakers`: one report per voice of a recording on one channel. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { analyzerOf } from '../../src/engine/analyze.ts';
import { joinArrays } from '../../src/engine/arrays.ts';
import { defaultChunking } from '../../src/engine/chunks.ts';
import { composeReport, type SpeakersReport, speakersReportSchema } from '../../src/engine/compose-report.ts';
import type { Models } from '../../src/engine/loader.ts';
import { type AnalyzeOptions, defaultOptions } from '../../src/engine/options.ts';
import type { Session } from '../../src/engine/platform.ts';
import { combinedReport } from '../../src/engine/report.ts';
import { loadModels } from '../../src/node/models.ts';
import { limits, speech } from '../support/analysis.ts';
import { withoutVoice } from '../support/models.ts';
import { call, sentence, type Turn, talk } from '../support/recordings.ts';

const rate = 16_000;
const models = await loadModels('models/standard');
const base = { ...defaultOptions, baselines: [], signals: ['emotion', 'cognitive'], cancel: null } as const;
const chunkingOf = (chunkSeconds: number) =>
  chunkSeconds === 180 ? defaultChunking : { chunkSeconds, maxCutSeconds: chunkSeconds / 2 };

async function analyze(
  samples: Float32Array,
  options: Partial<AnalyzeOptions>,
  chunkSeconds = 180,
  set: Models = models,
) {
  const request = { ...base, ...options, audio: wavFile(samples) };
  const analyses = await analyzerOf(set, limits, chunkingOf(chunkSeconds)).analyze(request);
  return speakersReportSchema.parse(composeReport(request, analyses, 'test'));
}

/** Share of the seconds of the turns that their voice has: `voices` in the order of the speakers. */
function shareRight({ speakers }: SpeakersReport, turns: readonly Turn[], voices: readonly string[]): number {
  const spans = speakers.flatMap(({ segments }, index) =>
    segments.filter(({ type }) => type === 'speech').map((span) => ({ ...span, voice: voices[index] })),
  );
  const overlap = (own: boolean) =>
    spans
      .flatMap((span) =>
        turns
          .filter(({ voice }) => (voice === span.voice) === own)
          .map(({ start, end }) => Math.max(0, Math.min(end, span.end_s) - Math.max(start, span.start_s))),
      )
      .reduce((sum, seconds) => sum + seconds, 0);
  return overlap(true) / (overlap(true) + overlap(false));
}

test('two voices are two speakers, in the order in which they first speak', async (t) => {
  for (const order of [
    ['low', 'high'],
    ['high', 'low'],
  ]) {
    const { samples, turns } = talk(order, 0.5);
    const report = await analyze(samples, { speakers: '2' });
    t.deepEqual(
      report.speakers.map(({ speaker }) => speaker),
      ['1', '2'],
    );
    t.is(shareRight(report, turns, order), 1);
    t.deepEqual(report.unassigned, []);
    t.is(report.conversation?.response_gaps_s.flat().length, 9);
  }
});

test('the answer is that of segments with the same spans', async (t) => {
  const { samples, turns } = talk(['low', 'high'], 0.5);
  const voices = await analyze(samples, { speakers: 'auto' });
  const segments = turns.map(({ voice, start, end }) => ({
    start: start - 0.25,
    end: end + 0.25,
    speaker: voice === 'low' ? '1' : '2',
  }));
  const named = await analyze(samples, { segments });
  for (const [index, { emotion, cognitive, segments: spans }] of voices.speakers.entries()) {
    const other = named.speakers[index];
    t.deepEqual(spans, other?.segments);
    t.deepEqual(emotion.timeline, other?.emotion.timeline);
    t.deepEqual(cognitive.measures, other?.cognitive.measures);
    const apart = (cognitive.signals.clarity ?? 0) - (other?.cognitive.signals.clarity ?? 1);
    t.true(Math.abs(apart) <= 0.0005, `${apart}`);
  }
});

test('the speaker changes without a pause', async (t) => {
  const { samples, turns } = talk(['low', 'high'], 0.02);
  const report = await analyze(samples, { speakers: '2' });
  const share = shareRight(report, turns, ['low', 'high']);
  t.true(share > 0.9, `${share}`);
  // Without a change every utterance of 10 s would be of both voices.
  const timeline = report.speakers.flatMap(({ emotion }) => emotion.timeline);
  t.true(timeline.length >= 8, `${timeline.length}`);
});

test('an utterance is read once for its voices, and the parts of one that is cut are scored in its place', async (t) => {
  const runs = { trunk: 0, base: 0 };
  const counted = (session: Session, name: keyof typeof runs): Session => ({
    ...session,
    run: (values) => {
      runs[name]++;
      return session.run(values);
    },
  });
  const { trunk, voice } = models;
  if (voice === null) return t.fail('expected a voice model');
  const { base: first, rest } = await voice.load();
  const turns = [1, 2, 3].flatMap((number) =>
    ['low', 'high'].map((name) => sentence(`${name}-${number}`).subarray(0, 2.5 * rate)),
  );
  const set = {
    ...models,
    trunk: { ...trunk, session: counted(trunk.session, 'trunk') },
    voice: { ...voice, load: async () => ({ base: counted(first, 'base'), rest }) },
  };
  for (const chunkSeconds of [180, 9]) {
    Object.assign(runs, { trunk: 0, base: 0 });
    const { speakers, unassigned } = await analyze(joinArrays(turns), { speakers: '2' }, chunkSeconds, set);
    t.deepEqual(unassigned, []);
    t.is(runs.trunk, speakers.flatMap(({ emotion }) => emotion.timeline).length);
    t.true(runs.base < runs.trunk, `${runs.base} of ${runs.trunk}`);
  }
});

test('chunks of a long recording have the speakers of the whole', async (t) => {
  const { samples, turns } = talk(['low', 'high'], 0.5);
  const report = await analyze(samples, { speakers: '2' }, 16);
  t.is(shareRight(report, turns, ['low', 'high']), 1);
  const whole = await analyze(samples, { speakers: '2' });
  for (const [index, { audio, cognitive }] of whole.speakers.entries()) {
    const other = report.speakers[index];
    t.true(Math.abs(audio.speech_s - (other?.audio.speech_s ?? 0)) < 0.3);
    t.true(Math.abs((cognitive.signals.clarity ?? 0) - (other?.cognitive.signals.clarity ?? 1)) < 0.02);
  }
});

test('auto finds one voice, whose report is that of the recording without the part', async (t) => {
  const gap = new Float32Array(rate);
  const alone = [1, 2, 3, 4, 5].flatMap((number) => [sentence(`low-${number}`), gap]);
  // Less than two seconds of another voice are no second speaker.
  const samples = joinArrays([...alone, sentence('high-1').subarray(0, 1.2 * rate), gap]);
  for (const chunkSeconds of [180, 9]) {
    const { speakers, unassigned, conversation } = await analyze(samples, { speakers: 'auto' }, chunkSeconds);
    t.deepEqual([unassigned, conversation], [[], null]);
    const request = { ...base, audio: wavFile(samples) };
    const [analysis] = await analyzerOf(models, limits, chunkingOf(chunkSeconds)).analyze(request);
    t.deepEqual(speakers, [{ speaker: '1', ...combinedReport(analysis, 'test') }]);
  }
});

test('auto does not cut one sentence', async (t) => {
  const report = await analyze(speech('low-1'), { speakers: 'auto' });
  t.is(report.speakers[0]?.emotion.timeline.length, 1);
});

test('a recording without a second voice, or without speech, still has the second of two speakers', async (t) => {
  for (const samples of [speech('low-1').subarray(0, rate), new Float32Array(2 * rate)]) {
    const { status, speakers } = await analyze(samples, { speakers: '2' });
    t.is(status, 'insufficient_speech');
    t.deepEqual(
      speakers.map((report) => report.status),
      [samples.some((value) => value !== 0) ? 'ok' : 'insufficient_speech', 'insufficient_speech'],
    );
  }
});

test('the voices of the example call are those of its channels', async (t) => {
  const audio = readFileSync('examples/call.ogg');
  const analyzer = analyzerOf(models, limits);
  const split = await analyzer.analyze({ ...base, audio, channels: 'split' });
  const voices = await analyzer.analyze({ ...base, audio, speakers: '2' });
  const [customer, agent] = split.map((analysis) => combinedReport(analysis, 'test'));
  const [first, second] = voices.map((analysis) => combinedReport(analysis, 'test'));
  for (const [own, other] of [
    [agent, first],
    [customer, second],
  ]) {
    const [low = 1, high = 0] = own?.cognitive.signals.intervals?.clarity ?? [];
    const clarity = other?.cognitive.signals.clarity ?? 0;
    t.true(low <= clarity && clarity <= high);
    const missing = (own?.audio.speech_s ?? 0) - (other?.audio.speech_s ?? 9);
    // The outburst of the customer may belong to neither voice.
    t.true(Math.abs(missing) <= 1.5, `${missing} s`);
  }
  const made = (call().length - 44) / (4 * rate);
  t.true(Math.abs((split[0]?.audio.seconds ?? 0) - made) < 0.1, 'it is made by `call`');
});

test('short speech without an utterance has a report, in both modes', async (t) => {
  const word = speech('low-1').subarray(8000, 8000 + 4800);
  const samples = joinArrays([word, new Float32Array(2 * rate), word, new Float32Array(2 * rate), word]);
  const [plain] = await analyzerOf(models, limits).analyze({ ...base, audio: wavFile(samples) });
  t.is(plain.results.emotion?.timeline.length, 1);
  for (const speakers of ['2', 'auto'] as const) {
    const report = await analyze(samples, { speakers });
    t.is(report.speakers[0]?.status, 'ok');
    t.deepEqual(report.speakers[0]?.emotion.signals, combinedReport(plain, 'test').emotion.signals);
  }
});

test('one voice in a part of a long recording is not cut there', async (t) => {
  const { samples: alone } = talk(['low'], 0.5);
  const { samples: both } = talk(['low', 'high'], 0.5);
  const samples = joinArrays([alone, both]);
  const report = await analyze(samples, { speakers: '2' }, 12);
  const timeline = report.speakers.flatMap(({ emotion }) => emotion.timeline);
  t.is(timeline.length, 15);
});

test('models without a voice model refuse to', async (t) => {
  const set = await loadModels(await withoutVoice(t));
  const audio = wavFile(speech('low-1'));
  const error = await t.throwsAsync(analyzerOf(set, limits).analyze({ ...base, audio, speakers: '2' }));
  t.is(
    error?.message,
    'Expected models with a voice model for `speakers`, got none: copy the folder voice of models/standard into the folder of models',
  );
});
