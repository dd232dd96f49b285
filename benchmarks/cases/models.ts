/**
 * Features and all models over one window of ten seconds, on one thread. Trunks alone, in turns: `fast` and `large` against
 * `standard`, and `standard` over utterances against windows of ten seconds.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { cpuUsage } from 'node:process';
import { type Models, replay, syntheticSignal } from '../../src/engine/loader.ts';
import type { FeatureSpec } from '../../src/engine/platform.ts';
import { cutUtterances } from '../../src/engine/utterances.ts';
import { loadModels } from '../../src/node/models.ts';
import { atMost, figure, inTurns, type Row, root, withinLimit } from '../case.ts';

const seconds = 10;
const rounds = process.argv.includes('--long') ? 200 : 40;
const warmUps = 5;
/** Megabytes of the largest file of weights at most. */
const sets = { standard: 8, fast: 8, large: 25, open: 8 } as const;
/** Time of a trunk at most, by that of `standard`. */
const trunkLimits = { fast: 1, large: 5 } as const;
const kinds = ['vad', 'trunk', 'emotion', 'cognitive'];
/** Seconds of each run of speech, and of the pause after it. */
const spoken = {
  'a minute without a pause': { speech: 60, pause: 0, goal: 1.05 },
  'a minute with a fifth of pauses': { speech: 3.6, pause: 0.9, goal: 0.9 },
} as const;
type Spoken = (typeof spoken)[keyof typeof spoken];

/** Milliseconds of processor time. */
async function cost(run: () => Promise<unknown>): Promise<number[]> {
  const before = cpuUsage();
  await run();
  const { user, system } = cpuUsage(before);
  return [(user + system) / 1000];
}

async function compare(runs: readonly (() => Promise<unknown>)[]) {
  for (const run of runs) for (let at = 0; at < warmUps; at++) await run();
  return inTurns(runs, rounds, cost);
}

/** Runs the trunk over a window of each length, in seconds. */
function trunkOver({ platform, features, filterbanks, trunk }: Models, lengths: readonly number[]) {
  const inputs = lengths.map((length) => {
    const read = (spec: FeatureSpec) => {
      const { data, frames, bins } = platform.extract(syntheticSignal(1, length), spec);
      return { data, shape: [1, frames, bins] };
    };
    return { features: read(features), ...(filterbanks && { filterbanks: read(filterbanks) }) };
  });
  return async () => {
    for (const input of inputs) await trunk.session.run(input);
  };
}

/** Seconds of each window of a minute. */
function windowsOf({ speech, pause }: Spoken, { features, trunk }: Models): number[] {
  const framesPerSecond = features.sampleRate / features.hopLength;
  const frames = 60 * framesPerSecond;
  const [run, step] = [speech * framesPerSecond, (speech + pause) * framesPerSecond];
  const speechProbability = Float32Array.from({ length: frames }, (_, frame) => (frame % step < run ? 1 : 0));
  const segments = Array.from({ length: Math.ceil(frames / step) }, (_, index) => ({
    start: index * step,
    end: Math.min(frames, index * step + run),
  }));
  const bounds = [{ start: 0, end: frames }];
  return cutUtterances({ segments, speechProbability, framesPerSecond }, trunk.manifest.params, bounds).map(
    ({ window }) => (window.end - window.start) / framesPerSecond,
  );
}

function largest(set: string): number {
  return Math.max(
    ...kinds.map((kind) => statSync(join(root, 'models', set, kind, 'weights.onnx')).size / 1e6),
  );
}

export async function run(): Promise<readonly Row[]> {
  const load = async (name: string) => [name, await loadModels(join(root, 'models', name))] as const;
  const models = Object.fromEntries(await Promise.all(Object.keys(sets).map(load)));
  const standard = models.standard as Models;
  const samples = syntheticSignal(1, seconds);
  const whole = await compare(Object.values(models).map((one) => () => replay(one, samples)));
  const unit = 'ms of one core';
  const note = `${rounds} runs in turns`;
  const rows = Object.entries(sets).flatMap(([name, megabytes], index): Row[] => [
    {
      name: `all models, ${seconds} s, ${name}`,
      unit,
      peer: null,
      ours: whole[index] ?? null,
      goal: 'none',
      ratio: null,
      met: true,
      note,
    },
    withinLimit(megabytes, `largest weights, ${name}`, 'MB', figure([largest(name)])),
  ]);
  const ten = [seconds];
  const names = ['standard', ...Object.keys(trunkLimits)];
  const [peer = null, ...trunks] = await compare(names.map((name) => trunkOver(models[name] as Models, ten)));
  for (const [index, [name, limit]] of Object.entries(trunkLimits).entries()) {
    const compared = { unit, peer, ours: trunks[index] ?? null, note: `peer: standard; ${note}` };
    rows.push(atMost(limit, { name: `trunk, ${seconds} s, ${name}`, ...compared }));
  }
  const windows = trunkOver(
    standard,
    Array.from({ length: 60 / seconds }, () => seconds),
  );
  for (const [name, speech] of Object.entries(spoken)) {
    const [peer = null, ours = null] = await compare([
      windows,
      trunkOver(standard, windowsOf(speech, standard)),
    ]);
    const compared = { unit, peer, ours, note: `peer: windows of ${seconds} s; ${note}` };
    rows.push(atMost(speech.goal, { name: `trunk, ${name}, standard`, ...compared }));
  }
  return rows;
}
