/** Abstention is per signal: every score stands beside an interval, which is wide where the recording says little. */

import { readFileSync } from 'node:fs';
import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { analyze, decode } from '../../src/index.ts';
import { openApiDocument } from '../../src/openapi/document.ts';
import { version } from '../../src/runtime/version.ts';
import type { Document } from '../support/contract.ts';

const { samples } = decode(readFileSync('examples/sample.wav'));
const speech = (seconds: number) =>
  wavFile(Float32Array.from({ length: 16_000 * seconds }, (_, at) => samples[at % samples.length] ?? 0));
/** Numbers beside scores: `confidence` is no score. */
const scores = {
  emotion: ['valence', 'arousal'],
  cognitive: ['cognitive_load', 'clarity', 'processing'],
} as const;

type Signals = Readonly<Record<string, unknown>> & {
  readonly intervals: Readonly<Record<string, readonly [number, number]>>;
};

test('every number of the documented signals is a score with an interval, or the confidence', (t) => {
  const { schemas } = (openApiDocument(version) as Document).components;
  const numbers = { ...schemas.EmotionSignals?.properties, ...schemas.CognitiveSignals?.properties };
  const names = Object.keys(numbers).filter((name) => numbers[name]?.type === 'number');
  t.deepEqual(names.sort(), [...scores.emotion, ...scores.cognitive, 'confidence'].sort());
});

for (const seconds of [2, 40]) {
  test(`${seconds} s of speech: each score is inside its interval`, async (t) => {
    const report = await analyze(speech(seconds));
    for (const signal of ['emotion', 'cognitive'] as const) {
      const signals = report[signal]?.signals as Signals;
      t.deepEqual(Object.keys(signals.intervals).sort(), [...scores[signal]].sort(), signal);
      for (const name of scores[signal]) {
        const [low, high] = signals.intervals[name] as readonly [number, number];
        const value = signals[name] as number;
        t.true(0 <= low && low <= value && value <= high && high <= 1, `${name} ${low} ${value} ${high}`);
      }
    }
  });
}

test('load and processing of 2 s of speech abstain alone', async (t) => {
  const { emotion, cognitive } = await analyze(speech(2));
  t.is(emotion?.status, 'ok');
  t.is(cognitive?.status, 'ok');
  t.true(cognitive?.warnings.includes('insufficient_speech_cognitive'));
  const { intervals, ...signals } = (cognitive?.signals ?? {}) as Signals;
  for (const name of ['cognitive_load', 'processing']) {
    const [low, high] = intervals[name] as readonly [number, number];
    t.is(signals[name], 0.5);
    t.true(high - low > 0.5, `${name} ${low} ${high}`);
  }
  const [low, high] = intervals.clarity as readonly [number, number];
  t.true(high - low < 0.9, `clarity ${low} ${high}`);
});
