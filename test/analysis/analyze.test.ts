import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { fixture } from '../../scripts/recordings.ts';
import { EngineError } from '../../src/engine/platform.ts';
import { combinedReportSchema } from '../../src/engine/report.ts';
import { reporter } from '../support/analysis.ts';

const reportOf = await reporter();

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
