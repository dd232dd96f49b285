/**
 * One client, one request at a time, on idle cores: against its limits, and against the sum of its stages measured alone.
 * The trunk alone, on one core. The first request after a start.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultOptions } from '../../src/engine/chunks.ts';
import { syntheticSignal } from '../../src/engine/loader.ts';
import { extract } from '../../src/node/addon.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { openSession } from '../../src/node/onnx.ts';
import { parseConfig } from '../../src/service/config.ts';
import { atMost, type Figure, figure, inTurns, type Row, root, withinLimit } from '../case.ts';
import {
  buildServers,
  buildService,
  closeConnections,
  forkServer,
  post,
  recording,
  startService,
  times,
} from '../service.ts';

const long = process.argv.includes('--long');
const rounds = long ? 30 : 12;
const perRound = 10;
const warmUps = 50;
const starts = long ? 20 : 7;
const seconds = 10;
const sets = [
  { name: 'standard', wholeMs: 16, trunkMs: 12 },
  { name: 'fast', wholeMs: null, trunkMs: 5 },
] as const;
type ModelSet = (typeof sets)[number];

/** Decode, features and models alone, in this process. */
async function openStages(): Promise<() => Promise<number>> {
  const { modelsDir, limits } = parseConfig(process.env);
  const analyzer = await createAnalyzer({ modelsDir, limits });
  const signals = ['emotion', 'cognitive'] as const;
  return async () => {
    const asked = { audio: recording, baselines: [], ...defaultOptions, signals, cancel: null };
    const [{ stages }] = await analyzer.analyze(asked);
    return stages.reduce((sum, { ms }) => sum + ms, 0);
  };
}

/** Of one session with one thread. */
async function trunkRow({ name, trunkMs }: ModelSet): Promise<Row> {
  const folder = join(root, 'models', name, 'trunk');
  const { features: spec } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const session = await openSession(readFileSync(join(folder, 'weights.onnx')));
  const { data, frames, bins } = extract(syntheticSignal(1, seconds), spec);
  const features = { data, shape: [1, frames, bins] };
  const timed = async () => {
    const started = performance.now();
    await session.run({ features });
    return performance.now() - started;
  };
  await times(warmUps, timed);
  const ms = figure(await times(rounds * perRound, timed));
  return withinLimit(trunkMs, `trunk of ${name}, ${seconds} s, one core`, 'ms', ms);
}

async function requestRow({ name, wholeMs }: ModelSet): Promise<Row> {
  const service = await startService({ UNDERTONE_MODELS_DIR: join(root, 'models', name) });
  await times(warmUps, () => post(service.port));
  const ms = figure(await times(rounds * perRound, () => post(service.port)));
  await service.stop();
  const row = withinLimit(
    wholeMs ?? Number.NaN,
    `POST /v1/analyze, 10 s WAV, ${name}`,
    'ms',
    ms,
    'idle cores',
  );
  return wholeMs === null
    ? { ...row, peer: null, ratio: null, goal: 'none', met: true, note: 'idle cores' }
    : row;
}

/** The first request after a start against the median of a warm service. */
async function firstRequestRow(): Promise<Row> {
  const first: number[] = [];
  const warm: number[] = [];
  for (let index = 0; index < starts; index++) {
    const service = await startService();
    first.push(await post(service.port));
    const later = await times(warmUps, () => post(service.port));
    warm.push((figure(later.slice(-perRound)) as Figure).median);
    await service.stop();
  }
  return atMost(1.2, {
    name: 'first request after the start, 10 s WAV',
    unit: 'ms',
    peer: figure(warm),
    ours: figure(first),
    note: `peer: the same service after ${warmUps - perRound} requests; ${starts} starts`,
  });
}

async function partsRow(): Promise<Row> {
  const raw = await forkServer('raw');
  const service = await startService({ UNDERTONE_WORKERS: '1' });
  const runs = [() => post(raw.port), await openStages(), () => post(service.port)];
  for (const one of runs) await times(warmUps, one);
  const [rawMs, stagesMs, oursMs = null] = await inTurns(runs, rounds, (one) => times(perRound, one));
  raw.stop();
  await service.stop();
  const sum = (rawMs?.median ?? Number.NaN) + (stagesMs?.median ?? Number.NaN);
  return atMost(1.3, {
    name: 'POST /v1/analyze, 10 s WAV, against its parts',
    unit: 'ms',
    peer: figure([sum]),
    ours: oursMs,
    note: `peer: raw-body request (${rawMs?.median.toFixed(1)} ms) + decode, features and models (${stagesMs?.median.toFixed(1)} ms), each alone`,
  });
}

export async function run(): Promise<readonly Row[]> {
  buildServers();
  buildService();
  const rows: Row[] = [];
  for (const set of sets) rows.push(await requestRow(set));
  for (const set of sets) rows.push(await trunkRow(set));
  rows.push(await firstRequestRow(), await partsRow());
  closeConnections();
  return rows;
}
