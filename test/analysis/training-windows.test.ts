/** Compares the segments of training/features/windows.py with the service's. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { makeVenv } from '../../benchmarks/packages.ts';
import { findSegments } from '../../src/engine/speech.ts';
import { modelSets } from '../../src/node/paths.ts';

type Training = {
  readonly vad: typeof segmentParams;
  readonly trunk: typeof windowParams;
  readonly silence: number;
  /** Of each recording. */
  readonly segments: readonly (readonly [number, number][])[];
};

const framesPerSecond = 100;
const silence = -10;
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

test('training finds the segments that the service finds', (t) => {
  const speech = Array.from({ length: 200 }, (_, index) => speechOf(index + 1));
  const training = JSON.parse(
    execFileSync(join(makeVenv('windows', [numpy]), 'python'), ['test/analysis/training-windows.py'], {
      input: JSON.stringify(speech.map((one) => [...one])),
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    }),
  ) as Training;
  t.deepEqual([training.vad, training.trunk, training.silence], [segmentParams, windowParams, silence]);
  for (const [index, one] of speech.entries()) {
    const segments = findSegments(one, framesPerSecond, segmentParams);
    t.deepEqual(
      segments.map(({ start, end }) => [start, end]),
      training.segments[index],
      `recording ${index}`,
    );
  }
  t.true(training.segments.flat().length > 100);
});

test('the shipped models have the parameters of training', (t) => {
  for (const set of modelSets) {
    const [vad, trunk] = ['vad', 'trunk'].map(
      (name) => JSON.parse(readFileSync(`models/${set}/${name}/manifest.json`, 'utf8')).params,
    );
    t.like(vad, segmentParams, set);
    t.like(trunk, windowParams, set);
  }
});
