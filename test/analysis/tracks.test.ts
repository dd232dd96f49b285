/** Recordings with several audio tracks: which is analysed, and what the report says of the others. */
import test from 'ava';
import { fixture } from '../../scripts/recordings.ts';
import { type AnalyzeRequest, analyzerOf } from '../../src/engine/analyze.ts';
import { channelsReportSchema, composeReport } from '../../src/engine/compose-report.ts';
import { defaultOptions } from '../../src/engine/options.ts';
import { combinedReportSchema } from '../../src/engine/report.ts';
import { loadModels } from '../../src/node/models.ts';
import { limits } from '../support/analysis.ts';

const models = await loadModels('models/standard');

async function reportOf(audio: Uint8Array, options: Partial<AnalyzeRequest> = {}) {
  const signals = ['emotion', 'cognitive'] as const;
  const request = { ...defaultOptions, audio, baselines: [], signals, cancel: null, ...options };
  const analyses = await analyzerOf(models, limits).analyze(request);
  return composeReport(request, analyses, 'test');
}

const combinedOf = async (audio: Uint8Array, options: Partial<AnalyzeRequest> = {}) =>
  combinedReportSchema.parse(await reportOf(audio, options));

test('where the first track has no speech, the report says that there are others', async (t) => {
  const report = await combinedOf(fixture('tracks-tone.m4a'));
  t.is(report.status, 'insufficient_speech');
  t.true(report.emotion.warnings.includes('several_tracks'));
  t.true(report.cognitive.warnings.includes('several_tracks'));
  t.like(report.audio, { track: 0, tracks: 2 });
});

test('the report of a chosen track is that of the track alone', async (t) => {
  const { audio, ...report } = await combinedOf(fixture('tracks-tone.m4a'), { track: 1 });
  const { audio: alone, ...expected } = await combinedOf(fixture('alac.m4a'));
  t.deepEqual(report, expected);
  t.deepEqual(audio, { ...alone, track: 1, tracks: 2 });
});

test('channels of a track have its number', async (t) => {
  const split = await reportOf(fixture('tracks-ac3.mp4'), { channels: 'split' });
  const { audio, channels } = channelsReportSchema.parse(split);
  t.like(audio, { channels: 2, track: 1, tracks: 2 });
  t.true(channels[0].emotion.warnings.includes('several_tracks'));
});

test('an error about a track names the tracks', async (t) => {
  await t.throwsAsync(reportOf(fixture('tracks-default.mkv'), { track: 2 }), {
    name: 'EngineError',
    code: 'track',
    message:
      'Expected a track of 0 to 1 for `track`, got 2: 0 is opus, 1 channel, deu; 1 is opus, 2 channels',
  });
});

test('a baseline has the track of the recording, or its default one', async (t) => {
  const [audio, alone] = [fixture('tracks-tone.m4a'), fixture('alac.m4a')];
  const expected = await combinedOf(audio, { track: 1, baselines: [alone] });
  t.deepEqual(await combinedOf(audio, { track: 1, baselines: [audio] }), expected);
  t.true(expected.cognitive.relative);
  await t.throwsAsync(reportOf(alone, { baselines: [audio] }), {
    code: 'insufficient_speech',
    message:
      'Expected at least 0.5 s of speech for `baseline`, got 0.00 s in track 0 of 2: choose one with `track`',
  });
});
