/**
 * The whole service against what one would serve instead: FastAPI with a classifier of `transformers` in the sizes of
 * wav2vec2-base, wav2vec2-large and Whisper-small, of random weights, in as many processes as cores. Then the same
 * wav2vec2-base on both sides: as a set of `undertone models add`.
 */
import { existsSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { atLeast, atMost, cacheFolder, type Figure, figure, type Row, root, runProgram } from '../case.ts';
import { makeVenv } from '../packages.ts';
import { stackPackages, startPeer } from '../peers/stack.ts';
import { proportionalMebibytes } from '../process.ts';
import {
  ask,
  buildService,
  closeConnections,
  closedLoop,
  formOf,
  recording,
  startService,
} from '../service.ts';

const long = process.argv.includes('--long');
const packages = [...stackPackages, 'soundfile==0.14.0', 'torch==2.13.0', 'transformers==5.24.0'];
const script = join(root, 'benchmarks', 'peers', 'classifiers.py');
const cores = availableParallelism();
const connections = 8;
const rounds = long ? 5 : 3;
const audioSeconds = 10;
const form = formOf(recording);

/** Requests of a round, about ten seconds of work. */
const names = { 'wav2vec2-base': 16, 'wav2vec2-large': 8, 'whisper-small': 8 } as const;
type Name = keyof typeof names;
type Side = { readonly port: number; readonly pid: number; stop(): Promise<void> };
type Measured = { readonly ms: Figure; readonly mebibytes: Figure };

const python = () => join(makeVenv('classifiers', packages), 'python');

function folderOf(name: Name): string {
  const folder = join(cacheFolder('peers/classifiers'), name);
  if (!existsSync(join(folder, 'config.json'))) runProgram(python(), [script, 'export', name, folder]);
  return folder;
}

/** The set that `undertone models add` makes of an exported folder. */
function setOf(name: Name): string {
  const out = join(cacheFolder('peers/classifiers'), `${name}-set`);
  rmSync(out, { recursive: true, force: true });
  runProgram(process.execPath, [
    join(root, 'dist/src/cli.js'),
    'models',
    'add',
    folderOf(name),
    '--out',
    out,
  ]);
  return out;
}

/** Milliseconds a request at `connections` connections, and the memory after it. */
async function measure(side: Side, path: string, requests: number): Promise<Measured> {
  const send = async () => (await ask(side.port, path, form)).ms;
  try {
    await closedLoop(connections, requests, send);
    const measured: number[] = [];
    for (let round = 0; round < rounds; round++) measured.push(await closedLoop(connections, requests, send));
    return {
      ms: figure(measured) as Figure,
      mebibytes: figure([proportionalMebibytes(side.pid)]) as Figure,
    };
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
  );

export async function run(): Promise<readonly Row[]> {
  buildService();
  const ours = await measure(await startService(), '/v1/analyze', 400);
  const added = await measure(
    await startService({ UNDERTONE_MODELS_DIR: setOf('wav2vec2-base') }),
    '/v1/analyze/emotion',
    names['wav2vec2-base'],
  );
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
  const runtime = await peer('wav2vec2-base', 'onnxruntime');
  const same = 'wav2vec2-base on both sides, emotion of 10 s';
  const note = 'ours: with voice activity, utterances and the embeddings of models/standard';
  const eager = torch['wav2vec2-base'] as Measured;
  rows.push(
    atLeast(0.98, {
      name: `${same}, FastAPI with onnxruntime`,
      unit: 'ms a request',
      note,
      peer: runtime.ms,
      ours: added.ms,
    }),
    atLeast(1, {
      name: `${same}, FastAPI with torch`,
      unit: 'ms a request',
      note,
      peer: eager.ms,
      ours: added.ms,
    }),
    atMost(1, {
      name: `${same}, memory, FastAPI with onnxruntime`,
      unit: 'MiB',
      note: '',
      peer: runtime.mebibytes,
      ours: added.mebibytes,
    }),
    atMost(1, {
      name: `${same}, memory, FastAPI with torch`,
      unit: 'MiB',
      note: '',
      peer: eager.mebibytes,
      ours: added.mebibytes,
    }),
  );
  closeConnections();
  return rows;
}
