/** Recordings beside a baseline, through the whole pipeline. */
import test from 'ava';
import { speechFile } from '../../benchmarks/speech.ts';
import { wavFile } from '../../benchmarks/wav.ts';
import { defaultOptions } from '../../src/engine/chunks.ts';
import { EngineError } from '../../src/engine/platform.ts';
import { type SignalReport, signalReport } from '../../src/engine/report.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { limits, speech } from '../support/analysis.ts';

const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });

const say = (name: string) => wavFile(speech(name, 5));

async function reportOf(
  audio: Uint8Array,
  ...baselines: readonly Uint8Array[]
): Promise<SignalReport<'cognitive'>> {
  const request = { ...defaultOptions, audio, baselines, signals: ['cognitive'], cancel: null } as const;
  const [analysis] = await analyzer.analyze(request);
  return signalReport('cognitive', analysis, 'test');
}

const effectOf = (report: SignalReport<'cognitive'>, name: string) =>
  report.contributions.cognitive_load.find(({ measure }) => measure === name)?.effect;

const rested = say('fox');

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
