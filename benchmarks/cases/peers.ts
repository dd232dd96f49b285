/**
 * The whole service against what one would build: in Python, FastAPI with python-multipart, librosa and ONNX Runtime; in
 * JavaScript, node:http with transformers.js. Both have as many processes as cores, and run the same graphs on the same
 * features of the same recording. Then against the features alone of openSMILE.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defaultOptions } from '../../src/engine/options.ts';
import { signalReport } from '../../src/engine/report.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { parseConfig } from '../../src/service/config.ts';
import { percentile } from '../../src/tools/evaluate/statistics.ts';
import {
  atLeast,
  cacheFolder,
  figure,
  largestDifference,
  type Measured,
  type Row,
  root,
  runProgram,
} from '../case.ts';
import { makeVenv } from '../packages.ts';
import {
  installStack,
  type Stack,
  stackMilliseconds,
  startStack,
  startTransformers,
} from '../peers/stack.ts';
import { proportionalMebibytes } from '../process.ts';
import {
  ask,
  buildServers,
  buildService,
  closeConnections,
  closedLoop,
  type Forked,
  forkServer,
  formOf,
  type Kind,
  recording,
  startService,
  times,
} from '../service.ts';

const long = process.argv.includes('--long');
const clients = 4;
const loadClients = 8;
/** V8 compiles code for the first 40 s of load. */
const warmUpMs = 40_000;
/** Before each measurement: some virtual machines take back memory that is idle while others are measured. */
const settleMs = 1500;
const loadMs = long ? 10_000 : 3000;
const connectionCounts = [1, loadClients, 32];
const openSmile = ['opensmile==2.6.0'];
const script = join(root, 'benchmarks', 'peers', 'egemaps.py');
const cores = availableParallelism();
const framesPerSecond = 100;
/** Log units, and the share of the pitch: what still counts as the same. */
const featureTolerance = 1e-3;
const pitchTolerance = 0.03;

/** Path of each side, and how often it is requested a round; pitch takes librosa seconds. */
const tasks = {
  features: { ours: '/v1/analyze/emotion', peer: '', rounds: long ? 20 : 7, requests: long ? 100 : 40 },
  pitch: { ours: '/v1/analyze', peer: '?pitch=1', rounds: long ? 5 : 3, requests: 4 },
} as const;
type Task = (typeof tasks)[keyof typeof tasks];

const form = formOf(recording);

/** Whether both sides compute the same: the mean of the features over time, and the median pitch. */
async function compareWork({ peer, ours }: Sides): Promise<{ readonly note: string; readonly met: boolean }> {
  type Answer = { readonly mean: readonly number[]; readonly pitch: number };
  const read = async (port: number, path: string) =>
    JSON.parse((await ask(port, path, form)).body.toString()) as Answer;
  const theirs = await read(peer.port, `/graph${tasks.pitch.peer}`);
  const own = await read(ours.port, tasks.pitch.ours);
  const difference = largestDifference(Float32Array.from(theirs.mean), Float32Array.from(own.mean));
  const met = difference <= featureTolerance && Math.abs(own.pitch / theirs.pitch - 1) <= pitchTolerance;
  const pitch = `median pitch ${own.pitch.toFixed(1)} Hz, theirs ${theirs.pitch.toFixed(1)} Hz`;
  return { note: `largest difference of features ${difference.toExponential(1)}, ${pitch}`, met };
}

type Sides = { readonly peer: Stack; readonly ours: Forked };

/** Milliseconds a request of four clients, in turns. */
async function throughput({ peer, ours }: Sides, task: Task) {
  const measured = { peer: [] as number[], ours: [] as number[] };
  const askPeer = async () => (await ask(peer.port, `/graph${task.peer}`, form)).ms;
  const askOurs = async () => (await ask(ours.port, task.ours, form)).ms;
  // Each process of the peer compiles and plans at its first requests, and the runtime of ours at its first hundreds.
  await closedLoop(clients, task.requests, askPeer);
  await closedLoop(clients, 20 * task.requests, askOurs);
  for (let round = 0; round < task.rounds; round++) {
    measured.peer.push(await closedLoop(clients, task.requests, askPeer));
    measured.ours.push(await closedLoop(clients, 10 * task.requests, askOurs));
  }
  return { peer: figure(measured.peer), ours: figure(measured.ours) };
}

/** Milliseconds of processor time a request outside the models' sessions: one process, one client. */
async function outside(
  { path, port, usage }: { path: string; port: number; usage: () => Promise<number> },
  rounds: number,
  requests: number,
): Promise<number[]> {
  const inSessions = async () => (await ask(port, path, form)).stages.get('sessions') ?? Number.NaN;
  await times(requests, inSessions);
  const found: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = await usage();
    const sessions = await times(requests, inSessions);
    const spent = (await usage()) - before;
    found.push((spent - sessions.reduce((sum, ms) => sum + ms, 0)) / requests);
  }
  return found;
}

async function outsideBoth({ peer, ours }: Sides, task: Task) {
  const ownUsage = async () => (await ours.usage()).process / 1000;
  const own = { path: task.ours, port: ours.port, usage: ownUsage };
  const theirs = { path: `/models${task.peer}`, port: peer.port, usage: () => stackMilliseconds(peer) };
  return {
    peer: figure(await outside(theirs, task.rounds, Math.ceil(task.requests / 4))),
    ours: figure(await outside(own, 2 * task.rounds, 25)),
  };
}

/** Starts both sides for the duration of `work`. */
async function withSides(
  kind: Kind,
  processes: number,
  work: (sides: Sides) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const sides = { peer: await startStack(processes), ours: await forkServer(kind, processes) };
  try {
    return await work(sides);
  } finally {
    sides.ours.stop();
    await sides.peer.stop();
  }
}

const throughputRows = () =>
  withSides('graph-thread', cores, async (sides) => {
    const same = await compareWork(sides);
    const features = await throughput(sides, tasks.features);
    const pitch = await throughput(sides, tasks.pitch);
    const unit = 'ms a request';
    const note = `${clients} clients, ${cores} processes or threads; ${same.note}`;
    return [
      atLeast(20, { name: 'graph of one node on log-mel 80', unit, note, ...features }),
      atLeast(50, { name: 'the same, and pitch', unit, note: 'theirs: librosa.pyin', ...pitch }),
    ].map((row) => ({ ...row, met: row.met && same.met }));
  });

const outsideRows = () =>
  withSides('models-thread', 1, async (sides) => {
    const features = await outsideBoth(sides, tasks.features);
    const pitch = await outsideBoth(sides, tasks.pitch);
    const unit = 'ms of CPU a request';
    return [
      atLeast(2, { name: 'emotion, outside the sessions', unit, note: 'no pitch', ...features }),
      atLeast(15, { name: 'both signals, outside the sessions', unit, note: 'with pitch', ...pitch }),
    ];
  });

type Answering = {
  readonly name: string;
  readonly port: number;
  readonly path: string;
  readonly pid: number;
};

/** One service at one number of connections, each of which asks again as soon as it was answered. */
export type Load = {
  readonly service: string;
  readonly connections: number;
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
  readonly mebibytes: number;
};

/** Requests of each connection, one after another, until the time has passed. */
async function requestsOf({ port, path }: Answering, connections: number, ms: number): Promise<number[]> {
  const end = performance.now() + ms;
  const latencies: number[] = [];
  const send = async () => {
    do latencies.push((await ask(port, path, form)).ms);
    while (performance.now() < end);
  };
  await Promise.all(Array.from({ length: connections }, send));
  return latencies;
}

async function loadOf(answering: Answering, connections: number): Promise<Load> {
  await requestsOf(answering, connections, settleMs);
  const started = performance.now();
  const latencies = await requestsOf(answering, connections, loadMs);
  const seconds = (performance.now() - started) / 1000;
  return {
    service: answering.name,
    connections,
    p50: percentile(latencies, 0.5) ?? Number.NaN,
    p99: percentile(latencies, 0.99) ?? Number.NaN,
    perSecond: latencies.length / seconds,
    mebibytes: proportionalMebibytes(answering.pid),
  };
}

/** Medians over the rounds. */
function middleOf(loads: readonly Load[]): Load {
  const middle = (value: (load: Load) => number) => figure(loads.map(value))?.median ?? Number.NaN;
  return {
    ...(loads[0] as Load),
    p50: middle(({ p50 }) => p50),
    p99: middle(({ p99 }) => p99),
    perSecond: middle(({ perSecond }) => perSecond),
    mebibytes: middle(({ mebibytes }) => mebibytes),
  };
}

const [bothSignals, emotionAlone] = ['Undertone', 'Undertone, emotion alone'];
const [stackBoth, stackAlone] = ['FastAPI with librosa', 'FastAPI with librosa, without pitch'];
const stackWindows = 'FastAPI with librosa, without pitch, the same windows';
const transformersAlone = 'transformers.js, without pitch';

/** Frames of the spans that the trunk reads, as the peer takes them. */
async function windowsOf(audio: Buffer): Promise<string> {
  const { modelsDir, limits } = parseConfig(process.env);
  const analyzer = await createAnalyzer({ modelsDir, limits });
  const [analysis] = await analyzer.analyze({
    ...defaultOptions,
    audio,
    baselines: [],
    signals: ['emotion'],
    cancel: null,
  });
  const { marginSeconds } = analyzer.models.trunk.manifest.params;
  const { timeline, audio: decoded } = signalReport('emotion', analysis, 'bench');
  const frame = (second: number) =>
    Math.round(framesPerSecond * Math.min(decoded.duration_s, Math.max(0, second)));
  return timeline
    .map(({ start_s, end_s }) => `${frame(start_s - marginSeconds)}-${frame(end_s + marginSeconds)}`)
    .join(',');
}

/** Whole services with the same graphs, at each number of connections in turns. */
async function measureLoads(): Promise<readonly Load[]> {
  const stack = await startStack(cores);
  const transformers = await startTransformers(cores);
  const service = await startService({ UNDERTONE_QUEUE: '64' }); // a place for each connection
  const answering = [
    { name: bothSignals, ...service, path: '/v1/analyze' },
    { name: stackBoth, ...stack, path: '/models?pitch=1' },
    { name: emotionAlone, ...service, path: '/v1/analyze/emotion' },
    { name: stackAlone, ...stack, path: '/models' },
    { name: stackWindows, ...stack, path: `/models?windows=${await windowsOf(recording)}` },
    { name: transformersAlone, ...transformers, path: '/' },
  ];
  const found = new Map<string, Load[]>();
  try {
    for (const one of answering) await requestsOf(one, loadClients, warmUpMs);
    for (let round = 0; round < (long ? 7 : 3); round++) {
      for (const connections of connectionCounts) {
        for (const one of answering) {
          const load = await loadOf(one, connections);
          const id = `${one.name} ${connections}`;
          found.set(id, [...(found.get(id) ?? []), load]);
        }
      }
    }
  } finally {
    await Promise.all([service, transformers, stack].map((one) => one.stop()));
  }
  return [...found.values()].map(middleOf);
}

function loadRows(loads: readonly Load[]): Row[] {
  const at = (service: string, connections: number) =>
    loads.find((load) => load.service === service && load.connections === connections) as Load;
  const compare = (
    goal: number,
    name: string,
    [ours, peer]: readonly [string, string],
    connections: number,
    unit: string,
    value: (load: Load) => number,
  ) =>
    atLeast(goal, {
      name: `${name}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`,
      unit,
      note: `peer: ${peer}`,
      peer: figure([value(at(peer, connections))]),
      ours: figure([value(at(ours, connections))]),
    });
  const perRequest = ({ perSecond }: Load) => 1000 / perSecond;
  const both = [bothSignals, stackBoth] as const;
  const windowed = [emotionAlone, stackWindows] as const;
  return [
    compare(3, 'whole service, throughput', both, loadClients, 'ms a request', perRequest),
    compare(3, 'whole service, p99', both, loadClients, 'ms', ({ p99 }) => p99),
    compare(1, 'whole service, memory', both, loadClients, 'MiB', ({ mebibytes }) => mebibytes),
    ...connectionCounts.flatMap((connections) => {
      const own = perRequest(at(stackAlone, connections)) / perRequest(at(emotionAlone, connections));
      const name = 'emotion alone, throughput, FastAPI';
      const row = compare(1.15, name, windowed, connections, 'ms a request', perRequest);
      return [
        { ...row, note: `${row.note}; ratio with the whole recording as one window: ${own.toFixed(2)}` },
        compare(1, 'emotion alone, p99, FastAPI', windowed, connections, 'ms', ({ p99 }) => p99),
        compare(
          1,
          'emotion alone, memory, FastAPI',
          windowed,
          connections,
          'MiB',
          ({ mebibytes }) => mebibytes,
        ),
        compare(
          3,
          'emotion alone, throughput, transformers.js',
          [emotionAlone, transformersAlone],
          connections,
          'ms a request',
          perRequest,
        ),
      ];
    }),
  ];
}

/** The whole request against the features alone of the toolkit that studies of voices use. */
async function openSmileRow(): Promise<Row> {
  const file = join(cacheFolder('peers'), 'speech.wav');
  writeFileSync(file, recording);
  const rounds = long ? 30 : 10;
  const service = await startService();
  const send = async () => (await ask(service.port, '/v1/analyze', form)).ms;
  try {
    await times(50, send);
    const output = runProgram(join(makeVenv('opensmile', openSmile), 'python'), [
      script,
      file,
      String(rounds),
    ]);
    const peer = figure(JSON.parse(output.trim().split('\n').at(-1) as string) as number[]);
    const ours = figure(await times(10 * rounds, send));
    const name = 'both signals of 10 s against the eGeMAPS features of openSMILE alone';
    return atLeast(5, { name, unit: 'ms', note: 'theirs: without a model or a server', peer, ours });
  } finally {
    await service.stop();
  }
}

export async function run(): Promise<Measured> {
  installStack();
  buildServers();
  buildService();
  const loads = await measureLoads();
  const rows = [
    ...loadRows(loads),
    await openSmileRow(),
    ...(await throughputRows()),
    ...(await outsideRows()),
  ];
  closeConnections();
  return { rows, loads };
}
