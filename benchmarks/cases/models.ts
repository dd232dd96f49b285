/**
 * Features and all models over one window of ten seconds, on one thread. Trunks alone, in turns: `fast` and `large` against
 * `standard`, `standard` over utterances against windows of ten seconds, and against its own multiplications. What a request takes
 * for the warning about several speakers, and for `speakers`.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { cpuUsage } from 'node:process';
import { analyzerOf } from '../../src/engine/analyze.ts';
import { replay, syntheticSignal } from '../../src/engine/golden.ts';
import { available, type Models } from '../../src/engine/loader.ts';
import { defaultOptions } from '../../src/engine/options.ts';
import type { FeatureSpec } from '../../src/engine/platform.ts';
import { cutUtterances } from '../../src/engine/utterances.ts';
import type { SpeakerMode } from '../../src/engine/voices.ts';
import { loadModels } from '../../src/node/models.ts';
import { parseConfig } from '../../src/service/config.ts';
import { atMost, figure, inTurns, type Row, root, runProgram, withinLimit } from '../case.ts';
import { makeVenv } from '../packages.ts';
import { speechFile } from '../speech.ts';

const seconds = 10;
const rounds = process.argv.includes('--long') ? 200 : 40;
const warmUps = 5;
/** Megabytes of the largest file of weights at most. */
const sets = { standard: 8, fast: 8, large: 25, research: 25 } as const;
/** Time of a trunk at most, by that of `standard`. */
const trunkLimits = { fast: 1, large: 5 } as const;
/** The runtime of the service. */
const pythonPackages = ['numpy==2.4.6', 'onnx==1.23.2', 'onnxruntime==1.30.0'];
/** Time of the trunk at most, by that of its multiplications. */
const productsLimit = 1.5;
const kinds = ['vad', 'trunk', 'emotion', 'cognitive'];
/** Time of a request at most, by one without the warning `several_speakers`; with `speakers`, by one without. */
const voiceLimits = {
  standard: { warning: 1.15, speakers: 2.5 },
  fast: { warning: 1.3, speakers: 2.5 },
  large: { warning: 1.3, speakers: 1.3 },
  research: { warning: 1.3, speakers: 1.3 },
} as const;
const minute = 60;
/** Seconds of each recording, of each run of speech in it, and of the pause after it. */
const spoken = {
  'a minute without a pause': { recordings: 1, length: 60, speech: 60, pause: 0, goal: 1.05 },
  'a minute with a fifth of pauses': { recordings: 1, length: 60, speech: 3.6, pause: 0.9, goal: 0.9 },
  'a monologue of ten minutes': { recordings: 1, length: 600, speech: 30, pause: 0.5, goal: 1.05 },
  'a call of ten minutes': { recordings: 1, length: 600, speech: 2.4, pause: 0.6, goal: 0.9 },
  '200 clips of one second': { recordings: 200, length: 1, speech: 1, pause: 0, goal: 1.05 },
} as const;
type Spoken = (typeof spoken)[keyof typeof spoken];

/** Milliseconds of processor time. */
async function cost(run: () => Promise<unknown>): Promise<number[]> {
  const before = cpuUsage();
  await run();
  const { user, system } = cpuUsage(before);
  return [(user + system) / 1000];
}

async function compare(runs: readonly (() => Promise<unknown>)[], times = rounds) {
  for (const run of runs) for (let at = 0; at < Math.min(warmUps, times); at++) await run();
  return inTurns(runs, times, cost);
}

/** Runs the trunk over a window of each length, in seconds. */
function trunkOver({ platform, features, filterbanks, trunk }: Models, lengths: readonly number[]) {
  const inputs = lengths.map((length) => {
    const read = (spec: FeatureSpec) => {
      const { data, frames, bins } = platform.extract(syntheticSignal(1, length), spec);
      return { data, shape: [1, frames, bins] };
    };
    const all = { features: read(features), ...(filterbanks && { filterbanks: read(filterbanks) }) };
    return Object.fromEntries(Object.entries(all).filter(([name]) => trunk.manifest.inputs.includes(name)));
  });
  return async () => {
    for (const input of inputs) await trunk.session.run(input);
  };
}

const framesPerSecondOf = ({ features }: Models) => features.sampleRate / features.hopLength;

function withoutWarning({ trunk, ...models }: Models): Models {
  const { severalSpeakers: _, ...params } = trunk.manifest.params;
  return { ...models, severalSpeakers: null, trunk: { ...trunk, manifest: { ...trunk.manifest, params } } };
}

async function voiceRows(set: keyof typeof voiceLimits, models: Models): Promise<readonly Row[]> {
  const { limits } = parseConfig({});
  const audio = speechFile(minute);
  const request = { ...defaultOptions, audio, baselines: [], signals: available(models), cancel: null };
  const analyze = (one: Models, speakers: SpeakerMode | null) => () =>
    analyzerOf(one, limits).analyze({ ...request, speakers });
  const runs = [analyze(withoutWarning(models), null), analyze(models, null), analyze(models, 'auto')];
  const times = Math.ceil(rounds / 2);
  const [plain = null, warned = null, separated = null] = await compare(runs, times);
  const { warning, speakers } = voiceLimits[set];
  const unit = 'ms of all cores';
  const note = `${times} runs in turns`;
  return [
    atMost(warning, {
      name: `a request of ${minute} s, ${set}`,
      unit,
      peer: plain,
      ours: warned,
      note: `peer: without the warning several_speakers; ${note}`,
    }),
    atMost(speakers, {
      name: `a request of ${minute} s with speakers=auto, ${set}`,
      unit,
      peer: warned,
      ours: separated,
      note: `peer: without speakers; ${note}`,
    }),
  ];
}

/** Seconds of each window of one recording. */
function windowsOf({ length, speech, pause }: Spoken, models: Models): number[] {
  const framesPerSecond = framesPerSecondOf(models);
  const frames = length * framesPerSecond;
  const [run, step] = [speech * framesPerSecond, (speech + pause) * framesPerSecond];
  const speechProbability = Float32Array.from({ length: frames }, (_, frame) => (frame % step < run ? 1 : 0));
  const segments = Array.from({ length: Math.ceil(frames / step) }, (_, index) => ({
    start: index * step,
    end: Math.min(frames, index * step + run),
  }));
  const bounds = [{ start: 0, end: frames }];
  return cutUtterances(
    { segments, speechProbability, framesPerSecond },
    models.trunk.manifest.params,
    bounds,
  ).map(({ window }) => (window.end - window.start) / framesPerSecond);
}

function largest(set: string): number {
  return Math.max(
    ...kinds.map((kind) => statSync(join(root, 'models', set, kind, 'weights.onnx')).size / 1e6),
  );
}

function productsRow(models: Models): Row {
  const python = join(makeVenv('products', pythonPackages), 'python');
  const script = join(root, 'benchmarks/peers/products.py');
  const graph = join(root, 'models/standard/trunk/weights.onnx');
  const printed = runProgram(python, [
    script,
    graph,
    String(seconds * framesPerSecondOf(models)),
    String(rounds),
  ]);
  const { trunk, products } = JSON.parse(printed) as Readonly<Record<'trunk' | 'products', number[]>>;
  return atMost(productsLimit, {
    name: `trunk, ${seconds} s, standard, by its multiplications`,
    unit: 'ms of one core',
    peer: figure(products),
    ours: figure(trunk),
    note: `peer: as many multiplications in one large MatMulInteger; ${rounds} runs in turns`,
  });
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
    withinLimit(megabytes, `largest weights, without voice, ${name}`, 'MB', figure([largest(name)])),
  ]);
  const ten = [seconds];
  const names = ['standard', ...Object.keys(trunkLimits)];
  const [peer = null, ...trunks] = await compare(names.map((name) => trunkOver(models[name] as Models, ten)));
  for (const [index, [name, limit]] of Object.entries(trunkLimits).entries()) {
    const compared = { unit, peer, ours: trunks[index] ?? null, note: `peer: standard; ${note}` };
    rows.push(atMost(limit, { name: `trunk, ${seconds} s, ${name}`, ...compared }));
  }
  for (const [name, speech] of Object.entries(spoken)) {
    const total = speech.recordings * speech.length;
    const fixed = Array.from({ length: total / seconds }, () => seconds);
    const own = Array.from({ length: speech.recordings }, () => windowsOf(speech, standard)).flat();
    const times = Math.ceil((rounds * 60) / total);
    const runs = [trunkOver(standard, fixed), trunkOver(standard, own)];
    const [peer = null, ours = null] = await compare(runs, times);
    const compared = {
      unit,
      peer,
      ours,
      note: `${own.length} runs; peer: ${fixed.length}, ${seconds} s each; ${times} times`,
    };
    rows.push(atMost(speech.goal, { name: `trunk, ${name}, standard`, ...compared }));
  }
  for (const [set, one] of Object.entries(models))
    rows.push(...(await voiceRows(set as keyof typeof sets, one)));
  return [...rows, productsRow(standard)];
}
