/** Recordings beside a baseline, through the whole pipeline. */
import { execFileSync } from 'node:child_process';
import test from 'ava';
import { createAnalyzer } from '../../src/analysis/analyze.ts';
import { type SignalReport, signalReport } from '../../src/analysis/report.ts';
import { defaultOptions } from '../../src/analysis/types.ts';
import { limits } from '../support/analysis.ts';

const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });

const text =
  'The quick brown fox jumps over the lazy dog, while six wise owls watch quietly. She sells sea shells by the ' +
  'shore, and nobody asks how many she found this morning. ';

/** @param pitch of espeak-ng, 0 to 99 */
function say(voice: string, pitch: number): Uint8Array {
  const options = ['-v', voice, '-p', String(pitch), '-s', '150', '--stdout', text.repeat(5)];
  return execFileSync('espeak-ng', options, { maxBuffer: 1 << 24 });
}

async function reportOf(
  audio: Uint8Array,
  ...baselines: readonly Uint8Array[]
): Promise<SignalReport<'cognitive'>> {
  const request = { audio, baselines, ...defaultOptions, signals: ['cognitive'], cancel: null } as const;
  const [analysis] = await analyzer.analyze(request);
  return signalReport('cognitive', analysis, 'test');
}

const effectOf = (report: SignalReport<'cognitive'>, name: string) =>
  report.contributions.cognitive_load.find(({ measure }) => measure === name)?.effect;

const rested = say('en', 50);

test('a recording as its own baseline is neutral and the same speaker', async (t) => {
  const report = await reportOf(rested, rested);
  t.like(report.signals, { cognitive_load: 0.5, processing: 0.5 });
  for (const name of ['pause_ratio', 'mean_run', 'pitch_level', 'pitch_range', 'spectral_tilt']) {
    t.is(effectOf(report, name), 0, name);
  }
  t.false(report.warnings.includes('baseline_other_speaker'));
});

test('several baselines count as their mean, in any order', async (t) => {
  const high = say('en', 60);
  const others = [say('en', 30), say('en', 40), say('en', 30)];
  const [one, again] = [await reportOf(high, ...others), await reportOf(high, ...others.reverse())];
  t.deepEqual(one.signals, again.signals);
  t.true(one.relative);
  t.not(one.signals.cognitive_load, (await reportOf(high, others[0] as Uint8Array)).signals.cognitive_load);
  t.deepEqual((await reportOf(high, rested, rested)).signals, (await reportOf(high, rested)).signals);
});

test('a male and a female voice are different speakers', async (t) => {
  const report = await reportOf(say('en+f2', 60), rested);
  t.true(report.warnings.includes('baseline_other_speaker'));
  t.true(report.relative);
});
