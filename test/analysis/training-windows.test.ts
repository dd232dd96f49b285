/** Compares the segments of training/features/windows.py with those of the service. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { makeVenv } from '../../benchmarks/python.ts';
import { findSegments } from '../../src/analysis/segments.ts';
import { loadModels } from '../../src/models/loader.ts';
import { modelSets } from '../../src/runtime/shipped-models.ts';

type Training = {
  readonly vad: object;
  readonly trunk: object;
  readonly recordings: readonly (readonly [number, number])[][];
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

const recordings = Array.from({ length: 60 }, (_, index) => speechOf(index + 1));
const training = JSON.parse(
  execFileSync(join(makeVenv('windows', [numpy]), 'python'), ['test/analysis/training-windows.py'], {
    input: JSON.stringify({ recordings: recordings.map((speech) => [...speech]) }),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  }),
) as Training;

for (const folder of modelSets.map((name) => `models/${name}`)) {
  test(`training finds the segments of ${folder}, with its params`, async (t) => {
    const { vad, trunk } = await loadModels(folder);
    t.like(vad.manifest.params, training.vad);
    t.like(trunk.manifest.params, training.trunk);
    for (const [index, speech] of recordings.entries()) {
      const found = findSegments(speech, framesPerSecond, vad.manifest.params);
      t.deepEqual(
        found.map(({ start, end }) => [start, end]),
        training.recordings[index] as [number, number][],
      );
    }
  });
}
