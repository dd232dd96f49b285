/**
 * The whole service against what one would build in Python: FastAPI with python-multipart, librosa and ONNX Runtime, as
 * many processes as cores. Both decode the same WAV, compute the same features and run the same graphs.
 */
import { availableParallelism } from 'node:os';
import { atLeast, figure, largestDifference, type Row } from '../case.ts';
import { installStack, type Stack, stackMilliseconds, startStack } from '../peers/stack.ts';
import { percentile } from '../percentile.ts';
import { proportionalMebibytes } from '../process.ts';
import { ask, closeConnections, closedLoop, formOf, recording, times } from '../request/client.ts';
import { buildServers, type Forked, forkServer, type Kind } from '../request/forked.ts';
import { buildService, startService } from '../service.ts';

const long = process.argv.includes('--long');
const clients = 4;
const loadClients = 8;
const cores = availableParallelism();
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
      atLeast(15, { name: 'emotion, outside the sessions', unit, note: 'no pitch', ...features }),
      atLeast(15, { name: 'both signals, outside the sessions', unit, note: 'with pitch', ...pitch }),
    ];
  });

/** The 99th percentile of the latencies of one closed loop, in milliseconds. */
async function p99(requests: number, send: () => Promise<number>): Promise<number> {
  const each = Math.ceil(requests / loadClients);
  const latencies = await Promise.all(Array.from({ length: loadClients }, () => times(each, send)));
  return percentile(latencies.flat(), 0.99) ?? Number.NaN;
}

/** The whole service with its models against the whole peer: latency of both signals under load, and memory after it. */
async function loadRows(): Promise<Row[]> {
  const peer = await startStack(cores);
  const service = await startService();
  const sendPeer = async () => (await ask(peer.port, '/models?pitch=1', form)).ms;
  const sendOurs = async () => (await ask(service.port, '/v1/analyze', form)).ms;
  const { requests, rounds } = tasks.pitch;
  const measured = { peer: [] as number[], ours: [] as number[] };
  try {
    await closedLoop(loadClients, 2 * cores, sendPeer);
    await closedLoop(loadClients, 20 * requests, sendOurs);
    for (let round = 0; round < rounds; round++) {
      measured.peer.push(await p99(requests * loadClients, sendPeer));
      measured.ours.push(await p99(10 * requests * loadClients, sendOurs));
    }
    const note = `${loadClients} clients, ${cores} processes or workers; both signals`;
    const latency = { peer: figure(measured.peer), ours: figure(measured.ours) };
    const memory = {
      peer: figure([proportionalMebibytes(peer.pid)]),
      ours: figure([proportionalMebibytes(service.pid)]),
    };
    return [
      atLeast(3, { name: 'whole service, p99 under load', unit: 'ms', note, ...latency }),
      atLeast(1, { name: 'whole service, memory under load', unit: 'MiB', note, ...memory }),
    ];
  } finally {
    await service.stop();
    await peer.stop();
  }
}

export async function run(): Promise<readonly Row[]> {
  installStack();
  buildServers();
  buildService();
  const rows = [...(await throughputRows()), ...(await outsideRows()), ...(await loadRows())];
  closeConnections();
  return rows;
}
