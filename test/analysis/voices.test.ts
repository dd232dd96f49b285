/** Voices of utterances, and the warning `several_speakers` through the whole pipeline. */
import test, { type ExecutionContext } from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { analyzerOf } from '../../src/engine/analyze.ts';
import { joinArrays } from '../../src/engine/arrays.ts';
import { defaultOptions } from '../../src/engine/chunks.ts';
import { combinedReport } from '../../src/engine/report.ts';
import { betweenVariance } from '../../src/engine/voices.ts';
import { loadModels } from '../../src/node/models.ts';
import { limits, speech } from '../support/analysis.ts';

const rate = 16_000;
const models = await loadModels('models/standard');
const request = {
  ...defaultOptions,
  baselines: [],
  signals: ['emotion', 'cognitive'],
  cancel: null,
} as const;

const sentences = [1, 2, 3, 4, 5];
const pause = new Float32Array(rate / 2);

/** One utterance per sentence. */
function say(voice: string): Float32Array[] {
  return sentences.map((sentence) => joinArrays([speech(`${voice}-${sentence}`), pause]));
}

const [low, high] = [say('low'), say('high')];

/** Whether both reports have the warning, or neither. */
async function warns(
  t: ExecutionContext,
  utterances: readonly Float32Array[],
  { set = models, chunkSeconds = 300 } = {},
): Promise<boolean> {
  const chunking = { chunkSeconds, maxCutSeconds: chunkSeconds / 2 };
  const audio = wavFile(joinArrays(utterances));
  const [analysis] = await analyzerOf(set, limits, chunking).analyze({ ...request, audio });
  const { emotion, cognitive } = combinedReport(analysis, 'test');
  const [first, second] = [emotion, cognitive].map(({ warnings }) => warnings.includes('several_speakers'));
  t.is(first, second);
  return first === true;
}

const unit = (...values: number[]) => Float32Array.from(values, (value) => value / Math.hypot(...values));
const near = (angle: number) => unit(Math.cos(angle), Math.sin(angle), 0);

test('the variance between two groups of voices does not depend on their order', (t) => {
  const voices = [0, 0.1, 0.2, 0.1, 2, 2.1, 2.2, 2.1].map(near);
  // Groups of four around 0.1 and 2.1: a quarter of the squared distance of their means.
  const expected = (Math.sin(1) * ((2 + 2 * Math.cos(0.1)) / 4)) ** 2;
  t.true(Math.abs((betweenVariance(voices, 4) ?? 0) - expected) < 1e-6);
  const shuffled = [4, 0, 1, 6, 2, 5, 7, 3].map((index) => voices[index] as Float32Array);
  t.true(Math.abs((betweenVariance(shuffled, 4) ?? 0) - expected) < 1e-6);
});

test('a group has the minimum size, and too few voices have no groups', (t) => {
  const voices = [...Array.from({ length: 7 }, () => near(0)), near(Math.PI)];
  // One voice opposite to seven, alone and in a group of four.
  t.true(Math.abs((betweenVariance(voices, 1) ?? 0) - 7 / 16) < 1e-6);
  t.true(Math.abs((betweenVariance(voices, 4) ?? 0) - 1 / 16) < 1e-6);
  t.is(betweenVariance(voices.slice(1), 4), null);
});

test('two speakers in turns are several speakers, one is not', async (t) => {
  t.true(
    await warns(
      t,
      low.flatMap((utterance, index) => [utterance, high[index] as Float32Array]),
    ),
  );
  t.false(await warns(t, [...low, ...low]));
  t.false(await warns(t, [...high, ...high]));
});

test('the warning does not depend on the order of the speakers or on chunks', async (t) => {
  t.true(await warns(t, [...low, ...high]));
  t.true(await warns(t, [...high, ...low], { chunkSeconds: 10 }));
  t.false(await warns(t, [...low, ...low], { chunkSeconds: 10 }));
});

test('voices of recordings with too few utterances for a warning are not compared', async (t) => {
  const stagesOf = async (utterances: readonly Float32Array[], chunkSeconds: number) => {
    const chunking = { chunkSeconds, maxCutSeconds: chunkSeconds / 2 };
    const audio = wavFile(joinArrays(utterances));
    const [{ stages }] = await analyzerOf(models, limits, chunking).analyze({ ...request, audio });
    return stages.map(({ name }) => name);
  };
  const few = [...low.slice(0, 4), ...high.slice(0, 3)];
  t.false((await stagesOf(few, 300)).includes('voices'));
  t.true((await stagesOf([...few, ...high.slice(3, 4)], 300)).includes('voices'));
  t.true((await stagesOf(few, 10)).includes('voices'), 'a chunk does not know how many follow');
});

test('too few utterances, or models without the params, have no warning', async (t) => {
  t.false(await warns(t, [...low.slice(0, 3), ...high.slice(0, 3)]));
  t.false(await warns(t, [...low, ...high], { set: await loadModels('models/open') }));
});
