/** Compares segments and inputs of the trunk of training/features/windows.py with the service's. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { makeVenv } from '../../benchmarks/packages.ts';
import type { Models } from '../../src/engine/loader.ts';
import { findSegments, type Segment, unbounded } from '../../src/engine/speech.ts';
import { startStageTimer } from '../../src/engine/timer.ts';
import { cutUtterances, encode, framesOf, type SpeechWindow } from '../../src/engine/utterances.ts';
import { loadEncoder } from '../../src/node/models.ts';
import { modelSets } from '../../src/node/paths.ts';

type Input = { readonly features: number[]; readonly weights: number[] };
type Training = {
  readonly vad: typeof segmentParams;
  readonly trunk: typeof windowParams;
  readonly silence: number;
  readonly recordings: readonly { readonly segments: [number, number][]; readonly windows: Input[] }[];
};

const framesPerSecond = 100;
const silence = -10;
const encoder = loadEncoder('models/standard/vad', null);
const segmentParams = { onset: 0.5, offset: 0.3, minSpeechSeconds: 0.1, minPauseSeconds: 0.25 };
const windowParams = { windowSeconds: 10, marginSeconds: 0.2 };
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

/** What the trunk reads: a feature is the index of its frame, silence outside. The energy of speech varies. */
async function inputsOf(speech: Float32Array, windows: readonly SpeechWindow[], framesPerToken: number) {
  const extractor = await encoder;
  const { features: spec } = extractor;
  const samples = Float32Array.from({ length: speech.length * spec.hopLength }, (_, at) =>
    Math.sin(at ** 1.3),
  );
  const block = { audio: { samples, sampleRate: spec.sampleRate }, speechProbability: speech };
  const inputs: (Input & { readonly window: Segment })[] = [];
  for (const window of windows) {
    const rows = framesOf(block, [window], extractor);
    const session = { run: async () => ({ tokens: { data: new Float32Array(0), shape: [1, 0, 0] } }) };
    const trunk = { session, manifest: { params: { framesPerToken } } } as unknown as Models['trunk'];
    const { weights } = await encode(rows, trunk, startStageTimer(null));
    const { start, data, bins } = rows;
    const end = start + data.length / bins;
    const frames = Array.from({ length: end - start }, (_, index) => start + index);
    const indices = frames.map((frame) => (frame < 0 || frame >= speech.length ? silence : frame));
    inputs.push({ features: indices, weights: [...weights.data], window: { start, end } });
  }
  return inputs;
}

function isClose(some: readonly number[], others: readonly number[]): boolean {
  return (
    some.length === others.length &&
    some.every((value, at) => Math.abs(value - (others[at] as number)) < 1e-5)
  );
}

for (const framesPerToken of [2, 4]) {
  test(`training reads what the trunk of ${framesPerToken} frames a token reads`, async (t) => {
    const recordings = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const speechProbability = speechOf(index + 1);
        const segments = findSegments(speechProbability, framesPerSecond, segmentParams);
        const detected = { segments, speechProbability, framesPerSecond };
        const utterances = cutUtterances(detected, windowParams, [unbounded]);
        const inputs = await inputsOf(speechProbability, utterances, framesPerToken);
        return { speechProbability, segments, inputs };
      }),
    );
    const training = JSON.parse(
      execFileSync(join(makeVenv('windows', [numpy]), 'python'), ['test/analysis/training-windows.py'], {
        input: JSON.stringify({
          framesPerToken,
          recordings: recordings.map(({ speechProbability, inputs }) => ({
            speech: [...speechProbability],
            windows: inputs.map(({ window }) => [window.start, window.end]),
          })),
        }),
        encoding: 'utf8',
        maxBuffer: 2 ** 26,
      }),
    ) as Training;
    t.deepEqual([training.vad, training.trunk, training.silence], [segmentParams, windowParams, silence]);
    let windows = 0;
    for (const [index, recording] of recordings.entries()) {
      const wanted = training.recordings[index] as Training['recordings'][number];
      t.deepEqual(
        recording.segments.map(({ start, end }) => [start, end]),
        wanted.segments,
        `recording ${index}`,
      );
      for (const [at, { features, weights }] of recording.inputs.entries()) {
        const other = wanted.windows[at] as Input;
        t.true(isClose(features, other.features), `features of window ${at} of recording ${index}`);
        t.true(isClose(weights, other.weights), `weights of window ${at} of recording ${index}`);
      }
      windows += recording.inputs.length;
    }
    t.true(windows > 30, `${windows} windows`);
  });
}

test('the shipped models have the parameters of training', (t) => {
  for (const set of modelSets) {
    const [vad, trunk] = ['vad', 'trunk'].map(
      (name) => JSON.parse(readFileSync(`models/${set}/${name}/manifest.json`, 'utf8')).params,
    );
    t.like(vad, segmentParams, set);
    t.like(trunk, windowParams, set);
  }
});
