/**
 * The whole service against what one would serve instead: FastAPI with a classifier of `transformers` in the sizes of
 * wav2vec2-base, wav2vec2-large and Whisper-small, of random weights, in as many processes as cores. Then the same
 * wav2vec2-base on both sides: as a set of `undertone models add`, in float and in int8.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { atLeast, atMost, cacheFolder, type Figure, figure, type Row, root, runProgram } from '../case.ts';
import { classifierPython as python, startPeer } from '../peers/stack.ts';
import { proportionalMebibytes } from '../process.ts';
import {
  addModel,
  ask,
  buildService,
  closeConnections,
  closedLoop,
  formOf,
  recording,
  startService,
} from '../service.ts';

const long = process.argv.includes('--long');
const script = join(root, 'benchmarks', 'peers', 'classifiers.py');
const cores = availableParallelism();
const connections = 8;
/** Connections of a second measurement of the same graph. */
const crowd = 32;
const rounds = long ? 5 : 3;
const audioSeconds = 10;
const form = formOf(recording);

/** Requests of a round, about ten seconds of work. */
const names = { 'wav2vec2-base': 16, 'wav2vec2-large': 8, 'whisper-small': 8 } as const;
type Name = keyof typeof names;
/** What both sides run in the second comparison. */
const same: Name = 'wav2vec2-base';
type Side = { readonly port: number; readonly pid: number; stop(): Promise<void> };
type Measured = {
  readonly ms: Figure;
  readonly mebibytes: Figure;
  /** Latency of the slowest request, by connections. */
  readonly slowest: ReadonlyMap<number, Figure>;
};

function folderOf(name: Name): string {
  const folder = join(cacheFolder('peers/classifiers'), name);
  if (!existsSync(join(folder, 'config.json'))) runProgram(python(), [script, 'export', name, folder]);
  return folder;
}

function quantized(folder: string): string {
  const out = `${folder}-int8`;
  if (!existsSync(join(out, 'model.onnx'))) runProgram(python(), [script, 'quantize', folder, out]);
  return out;
}

/** Milliseconds a request at `connections` connections, the memory after it, and the slowest of some requests at each of `atOnce`. */
async function measure(side: Side, path: string, requests: number, atOnce: readonly number[] = []) {
  const send = async () => (await ask(side.port, path, form)).ms;
  const slowestOf = async (count: number): Promise<Figure> => {
    let slowest = 0;
    await closedLoop(count, 2 * Math.max(count, requests), async () => {
      slowest = Math.max(slowest, await send());
      return 0;
    });
    return figure([slowest]) as Figure;
  };
  try {
    await closedLoop(connections, requests, send);
    const measured: number[] = [];
    for (let round = 0; round < rounds; round++) measured.push(await closedLoop(connections, requests, send));
    const mebibytes = figure([proportionalMebibytes(side.pid)]) as Figure;
    const slowest = new Map<number, Figure>();
    for (const count of atOnce) slowest.set(count, await slowestOf(count));
    return { ms: figure(measured) as Figure, mebibytes, slowest } satisfies Measured;
  } finally {
    await side.stop();
  }
}

const peer = async (name: Name, backend: 'torch' | 'onnxruntime') =>
  measure(
    await startPeer(python(), 'classifiers:create_app', cores, {
      PEER_FOLDER: folderOf(name),
      PEER_BACKEND: backend,
    }),
    '/classify',
    names[name],
    name === same ? [connections, crowd] : [],
  );

export async function run(): Promise<readonly Row[]> {
  buildService();
  const ours = await measure(await startService(), '/v1/analyze', 400);
  const measureSet = async (folder: string, atOnce: readonly number[]) =>
    measure(
      // A place for each connection, and time for those that wait.
      await startService({
        UNDERTONE_MODELS_DIR: addModel(folder),
        UNDERTONE_QUEUE: '64',
        UNDERTONE_DEADLINE_S: '300',
      }),
      '/v1/analyze/emotion',
      names[same],
      atOnce,
    );
  const added = await measureSet(folderOf(same), [connections, crowd]);
  const inBytes = await measureSet(quantized(folderOf(same)), []);
  const hours = ({ median }: Figure) => Math.round((1000 * audioSeconds) / (median * cores));
  const goals = { 'wav2vec2-base': 35, 'wav2vec2-large': 90, 'whisper-small': 35 } as const;
  const rows: Row[] = [];
  const torch: Partial<Record<Name, Measured>> = {};
  for (const name of Object.keys(names) as Name[]) {
    const theirs = await peer(name, 'torch');
    torch[name] = theirs;
    rows.push(
      atLeast(goals[name], {
        name: `both signals of 10 s, ${connections} connections, FastAPI with transformers and ${name}`,
        unit: 'ms a request',
        note: `hours of audio a core and hour: ${hours(theirs.ms)}, ours ${hours(ours.ms)}; theirs: a label of one window, random weights`,
        peer: theirs.ms,
        ours: ours.ms,
      }),
    );
  }
  const peers = { onnxruntime: await peer(same, 'onnxruntime'), torch: torch[same] as Measured };
  const goalsOfSame = { onnxruntime: 0.98, torch: 1 } as const;
  const note = 'ours: with voice activity, utterances and the embeddings of models/standard';
  for (const [backend, theirs] of Object.entries(peers) as ['onnxruntime' | 'torch', Measured][]) {
    const [name, tail] = [`${same} on both sides, emotion of 10 s`, `FastAPI with ${backend}`];
    rows.push(
      atLeast(goalsOfSame[backend], {
        name: `${name}, ${tail}`,
        unit: 'ms a request',
        note,
        peer: theirs.ms,
        ours: added.ms,
      }),
      ...[connections, crowd].map((count) =>
        atMost(1, {
          name: `${name}, slowest request of ${count} connections, ${tail}`,
          unit: 'ms',
          note: '',
          peer: theirs.slowest.get(count) as Figure,
          ours: added.slowest.get(count) as Figure,
        }),
      ),
      atMost(1, {
        name: `${name}, memory, ${tail}`,
        unit: 'MiB',
        note: '',
        peer: theirs.mebibytes,
        ours: added.mebibytes,
      }),
    );
  }
  rows.push(
    atLeast(1.8, {
      name: `${same}, emotion of 10 s, ours in int8, FastAPI with torch in float`,
      unit: 'ms a request',
      note,
      peer: peers.torch.ms,
      ours: inBytes.ms,
    }),
  );
  closeConnections();
  return rows;
}
