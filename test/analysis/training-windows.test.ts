/** Compares the windows of training/features/windows.py with those of the pipeline up to the trunk. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { makeVenv } from '../../benchmarks/python.ts';
import { encode } from '../../src/analysis/encode.ts';
import { findSegments } from '../../src/analysis/segments.ts';
import type { SpeechAnalysis } from '../../src/analysis/speech.ts';
import { startStageTimer } from '../../src/analysis/stage-timer.ts';
import { loadModels, type Models } from '../../src/models/loader.ts';
import type { Values } from '../../src/models/session.ts';
import { modelSets } from '../../src/runtime/shipped-models.ts';

type Cut = { readonly features: number[]; readonly weights: number[]; readonly speechFrames: number };
type TrainingWindows = {
  readonly vad: object;
  readonly trunk: object;
  readonly recordings: readonly Cut[][];
};

const framesPerSecond = 100;
const numpy = readFileSync('training/requirements.txt', 'utf8').match(/^numpy==.+$/m)?.[0] as string;

/** Steps of 0.03 to 1.5 s around the thresholds, 0.1 to 35 s in total. */
function speechOf(seed: number): Float32Array {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const speech = new Float32Array(Math.ceil(10 * 350 ** next()));
  for (let at = 0; at < speech.length; ) {
    const [level, until] = [next(), at + 3 + Math.floor(147 * next())];
    for (; at < Math.min(until, speech.length); at++) speech[at] = Math.min(1, level + 0.2 * next());
  }
  return speech;
}

/** Windows as they reach the trunk. */
async function cutsOf(speech: Float32Array, models: Models): Promise<Cut[]> {
  const { nMels: bins } = models.features;
  const data = Float32Array.from({ length: speech.length * bins }, (_, index) => Math.floor(index / bins));
  const segments = findSegments(speech, framesPerSecond, models.vad.manifest.params);
  const features = { data, frames: speech.length, bins };
  const seen: number[][] = [];
  const session = {
    ...models.trunk.session,
    run: async (inputs: Record<string, Values>) => {
      const rows = (inputs.features as Values).data as Float32Array;
      seen.push(Array.from({ length: rows.length / bins }, (_, frame) => rows[frame * bins] as number));
      return models.trunk.session.run(inputs);
    },
  };
  const analysis = {
    features,
    speechProbability: speech,
    segments,
    framesPerSecond,
  } as unknown as SpeechAnalysis;
  const watched = { ...models, trunk: { ...models.trunk, session } };
  const windows = [];
  for await (const { window, embeddings, weights } of encode(analysis, watched, startStageTimer(null))) {
    if (embeddings.shape[1] !== weights.shape[1]) throw new Error('Expected one weight per embedding');
    windows.push({
      features: seen.at(-1) as number[],
      weights: [...(weights.data as Float32Array)],
      speechFrames: window.speechFrames,
    });
  }
  return windows;
}

for (const folder of modelSets.map((name) => `models/${name}`)) {
  test(`training cuts the windows of ${folder}`, async (t) => {
    const models = await loadModels(folder);
    const { windowSeconds, framesPerToken } = models.trunk.manifest.params;
    const recordings = Array.from({ length: 60 }, (_, index) => speechOf(index + 1));
    const training = JSON.parse(
      execFileSync(join(makeVenv('windows', [numpy]), 'python'), ['test/analysis/training-windows.py'], {
        input: JSON.stringify({
          seconds: windowSeconds,
          framesPerToken,
          recordings: recordings.map((speech) => [...speech]),
        }),
        encoding: 'utf8',
        maxBuffer: 2 ** 26,
      }),
    ) as TrainingWindows;
    t.like(models.vad.manifest.params, training.vad);
    t.like(models.trunk.manifest.params, training.trunk);
    let windows = 0;
    for (const [index, speech] of recordings.entries()) {
      // Training drops windows with too little speech; the service keeps one if there is no other.
      const cuts = (await cutsOf(speech, models)).filter(({ speechFrames }) => speechFrames >= 25);
      const wanted = training.recordings[index] as Cut[];
      const close = (some: number[], others: number[]) =>
        some.length === others.length &&
        some.every((value, at) => Math.abs(value - (others[at] as number)) < 1e-5);
      t.is(cuts.length, wanted.length, `recording ${index}`);
      for (const [at, cut] of cuts.entries()) {
        const other = wanted[at] as Cut;
        t.is(cut.speechFrames, other.speechFrames, `window ${at} of recording ${index}`);
        t.true(close(cut.features, other.features), `features of window ${at} of recording ${index}`);
        t.true(close(cut.weights, other.weights), `weights of window ${at} of recording ${index}`);
      }
      windows += cuts.length;
    }
    t.true(windows > 30);
  });
}
