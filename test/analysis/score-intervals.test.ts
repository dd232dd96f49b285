/** Every score stands beside an interval, which is wide where the recording says little. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { version } from '../../src/node/paths.ts';
import { openApiDocument } from '../../src/service/api/document.ts';
import { analyze, decode } from '../../src/tools/index.ts';
import type { Document, Schema } from '../support/contract.ts';

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
  const isNumber = ({ type, anyOf = [] }: Schema): boolean =>
    [type].flat().includes('number') || (anyOf as Schema[]).some(isNumber);
  const names = Object.keys(numbers).filter((name) => isNumber(numbers[name] as Schema));
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

type Cognitive = NonNullable<Awaited<ReturnType<typeof analyze>>['cognitive']>;
type CognitiveSignals = Exclude<Cognitive['signals'], Record<string, never>>;

function indicesOf({ signals }: Cognitive): number[] {
  const { cognitive_load, processing, intervals } = signals as CognitiveSignals;
  return [cognitive_load, processing, ...intervals.cognitive_load, ...intervals.processing];
}

test('load and processing of a few seconds have contributions, wide intervals and a warning', async (t) => {
  const scores: number[] = [];
  for (let second = 0; second < 36; second += 4) {
    const clip = samples.subarray(second * 16_000, (second + 2 + second / 16) * 16_000);
    const { emotion, cognitive } = await analyze(wavFile(clip));
    t.is(emotion?.status, 'ok');
    t.true(cognitive?.warnings.includes('insufficient_speech_cognitive'));
    const { signals, contributions, reference } = cognitive as Cognitive;
    const { intervals, ...values } = signals as CognitiveSignals;
    for (const name of ['cognitive_load', 'processing'] as const) {
      const [low, high] = intervals[name];
      t.true(high - low > 0.65, `${name} ${low} ${high}`);
      const sum = contributions[name].reduce((total, { effect }) => total + effect, reference);
      t.true(Math.abs(sum - values[name]) < 1e-9, `${name} ${sum} ${values[name]}`);
      scores.push(values[name]);
    }
    const [low, high] = intervals.clarity;
    t.true(high - low < 0.9, `clarity ${low} ${high}`);
  }
  t.false(scores.includes(0.5), scores.join());
  t.is(new Set(scores).size, scores.length, scores.join());
});

/** From the middle of a run. */
const fluent = samples.subarray(16_000 * 10.7, 16_000 * 14.7);

/** Eight runs of 1.1 s with pauses between them, and a run of `seconds`. */
function halting(seconds: number): Float32Array {
  const runs = new Float32Array(16_000 * (16 + seconds));
  for (let run = 0; run < 8; run++) {
    runs.set(fluent.subarray(4800 * run, 4800 * run + 17_600), 16_000 * (0.3 + run * 1.9));
  }
  runs.set(fluent.subarray(0, 16_000 * seconds), 16_000 * 15.5);
  return runs;
}

function withoutPause(seconds: number): Float32Array {
  return Float32Array.from({ length: 16_000 * seconds }, (_, at) => fluent[at % fluent.length] as number);
}

const growing = {
  '10 s of speech': { from: 1, to: 2, step: 0.1, cut: halting },
  'an interval of 0.65': { from: 18, to: 32, step: 1, cut: withoutPause },
};

for (const [what, { from, to, step, cut }] of Object.entries(growing)) {
  test(`the warning ends at ${what}, and no score jumps`, async (t) => {
    const warned: boolean[] = [];
    let before: readonly number[] | null = null;
    for (let seconds = from; seconds <= to; seconds += step) {
      const { cognitive } = await analyze(wavFile(cut(seconds)));
      warned.push((cognitive as Cognitive).warnings.includes('insufficient_speech_cognitive'));
      const found = indicesOf(cognitive as Cognitive);
      const far = Math.max(...found.map((value, at) => Math.abs(value - (before?.[at] ?? value))));
      t.true(far < 0.015, `${far} at ${seconds} s: ${found} after ${before}`);
      before = found;
    }
    t.deepEqual([warned[0], warned.at(-1)], [true, false]);
  });
}
