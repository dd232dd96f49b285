/**
 * A request: one at a time on idle cores, against its limits and the sum of its stages measured alone; at random times, at half of
 * what the service can do; and what it costs in addition to its analysis. The trunk alone, on one core.
 */
import { join } from 'node:path';
import { syntheticSignal } from '../../src/engine/golden.ts';
import { defaultOptions } from '../../src/engine/options.ts';
import { extract } from '../../src/node/addon.ts';
import { createAnalyzer, loadModels } from '../../src/node/models.ts';
import { parseConfig } from '../../src/service/config.ts';
import { percentile } from '../../src/tools/evaluate/statistics.ts';
import { atMost, type Figure, figure, inTurns, type Row, root, withinLimit } from '../case.ts';
import {
  ask,
  buildServers,
  buildService,
  capacity,
  closeConnections,
  type Forked,
  forkServer,
  openLoop,
  post,
  recording,
  startService,
  times,
} from '../service.ts';

const long = process.argv.includes('--long');
const rounds = long ? 30 : 12;
const perRound = 10;
const warmUps = 50;
const seconds = 10;
const arrivals = long ? 3000 : 400;
const lagMilliseconds = 5;
/** Node.js measures the time from one tick of a timer to the next. */
const tickMilliseconds = 10;
const overheadRounds = long ? 40 : 20;
const perOverheadRound = long ? 500 : 100;
/** With fewer, the processor time of V8's compiler is measured too. */
const overheadWarmUps = long ? 10_000 : 3000;
const scanned = '/v1/analyze/emotion';
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
  const { trunk, features, filterbanks } = await loadModels(join(root, 'models', name));
  const specs = { features, filterbanks };
  const signal = syntheticSignal(1, seconds);
  const inputs = Object.entries(specs).flatMap(([input, spec]) => {
    if (spec === null || !trunk.manifest.inputs.includes(input)) return [];
    const { data, frames, bins } = extract(signal, spec);
    return [[input, { data, shape: [1, frames, bins] }]] as const;
  });
  const timed = async () => {
    const started = performance.now();
    await trunk.session.run(Object.fromEntries(inputs));
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

/** By the service's own metrics, since they were last read. */
async function lagSeconds(port: number): Promise<number> {
  const text = (await ask(port, '/metrics')).body.toString();
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1]);
}

/** Requests that arrive at times of their own, at half of the capacity. */
async function openLoopRows(): Promise<readonly Row[]> {
  const service = await startService();
  await times(warmUps, () => post(service.port));
  const perSecond = (await capacity(service.port)) / 2;
  await lagSeconds(service.port);
  // The time of a request starts when it was due, even if the client sent it late.
  const answered = await openLoop({ requests: arrivals, perSecond }, (late) =>
    post(service.port).then((ms) => ms + late),
  );
  const lag = 1000 * (await lagSeconds(service.port)) - tickMilliseconds;
  await service.stop();
  return [
    atMost(4, {
      name: 'p99 against p50 at half capacity, 10 s WAV',
      unit: 'ms',
      peer: figure([percentile(answered, 0.5) as number]),
      ours: figure([percentile(answered, 0.99) as number]),
      note: `${arrivals} requests, ${perSecond.toFixed(1)} a second; peer: p50`,
    }),
    withinLimit(
      lagMilliseconds,
      'event-loop delay, p99, meanwhile',
      'ms',
      figure([lag]),
      'of the main thread, by its own metrics',
    ),
  ];
}

/** CPU microseconds a request: of the process and of its main thread. */
async function processorUs(server: Forked): Promise<readonly [process: number, mainThread: number]> {
  const before = await server.usage();
  await times(perOverheadRound, () => post(server.port, scanned));
  const after = await server.usage();
  const each = (kind: 'process' | 'mainThread') => (after[kind] - before[kind]) / perOverheadRound;
  return [each('process'), each('mainThread')];
}

/** The service with a thread that scans the upload and does no more, in turns with a plain node:http server. */
async function overheadRows(): Promise<readonly Row[]> {
  const servers = [await forkServer('raw'), await forkServer('scan-thread')];
  for (const { port } of servers) await times(overheadWarmUps, () => post(port, scanned));
  const mainThread: number[][] = servers.map(() => []);
  const [raw = null, app = null] = await inTurns(servers, overheadRounds, async (server) => {
    const [whole, main] = await processorUs(server);
    mainThread[servers.indexOf(server)]?.push(main);
    return [whole];
  });
  for (const server of servers) server.stop();
  const [rawMain, appMain] = mainThread.map(figure) as [Figure, Figure];
  const unit = 'us CPU a request';
  return [
    atMost(3, {
      name: 'request overhead, 320 kB WAV',
      unit,
      peer: raw,
      ours: app,
      note: 'peer: node:http that collects the raw body; ours: the service with a thread that scans it',
    }),
    atMost(1.5, {
      name: 'main thread, 320 kB WAV',
      unit,
      peer: rawMain,
      ours: appMain,
      note: 'peer: the main thread of that node:http server',
    }),
  ];
}

export async function run(): Promise<readonly Row[]> {
  buildServers();
  buildService();
  const rows: Row[] = [];
  for (const set of sets) rows.push(await requestRow(set));
  for (const set of sets) rows.push(await trunkRow(set));
  rows.push(await partsRow(), ...(await openLoopRows()), ...(await overheadRows()));
  closeConnections();
  return rows;
}
