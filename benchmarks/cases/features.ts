/**
 * Log-mel and MFCC extraction against a plain FFTW loop, kaldi-native-fbank, librosa, torchaudio,
 * transformers.js and meyda: the same samples, one thread each, results compared where the conventions match. Vectors of
 * every width are measured against FFTW and against the processor's peak arithmetic rate, the widest against the others.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { longAudio } from '../audio.ts';
import {
  atLeast,
  atMost,
  cacheFolder,
  figure,
  largestDifference,
  type Row,
  root,
  runProgram,
  succeeds,
} from '../case.ts';
import { buildBenchmark, readLines } from '../native.ts';
import { installPackages } from '../packages.ts';
import { makeVenv } from '../python.ts';

type Series = { readonly name: string; readonly frames: number; readonly ns: readonly number[] };
type SeriesByName = ReadonlyMap<string, Series>;

/** Log units; the largest difference that still counts as the same features. */
const tolerance = 1e-3;
const folder = cacheFolder('features');
const audio = longAudio();
const peerScript = join(root, 'benchmarks', 'peers', 'features.py');
const npmScript = join(root, 'benchmarks', 'peers', 'features.mjs');
const npmFolder = cacheFolder('peers/npm');
const pythonPackages = ['numpy==2.4.6', 'librosa==0.11.0', 'kaldi-native-fbank==1.22.5'];
const npmPackages = ['@huggingface/transformers@4.3.1', 'meyda@5.6.3'];

function installFftw(): void {
  if (!succeeds('pkg-config', ['--exists', 'fftw3f'])) installPackages(['libfftw3-dev']);
}

function installTorchaudio(): void {
  if (!succeeds('/usr/bin/python3', ['-c', 'import torchaudio'])) installPackages(['python3-torchaudio']);
}

function installNpm(): void {
  if (existsSync(join(npmFolder, 'node_modules', 'meyda'))) return;
  console.log(`installing ${npmPackages.join(' and ')}`);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--silent'];
  runProgram('npm', ['install', '--prefix', npmFolder, ...options, ...npmPackages]);
}

function parseSeries(output: string): Series[] {
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Series);
}

/** A peer that cannot be installed or run is reported and its rows are missed; the others go on. */
function attempt(what: string, run: () => string): Series[] {
  try {
    return parseSeries(run());
  } catch (error) {
    console.error(`${what}: ${error instanceof Error ? error.message : error}`);
    return [];
  }
}

function runPeers(interpreter: string, peers: readonly string[]): string {
  const args = ['OMP_NUM_THREADS=1', 'OPENBLAS_NUM_THREADS=1', interpreter, '-W', 'ignore', peerScript];
  return runProgram('env', [...args, audio, folder, ...peers]);
}

function measureAll(): SeriesByName {
  const series = [
    ...attempt('FFTW', () => {
      installFftw();
      return runProgram(buildBenchmark('features'), [audio, folder]);
    }),
    ...attempt('kaldi-native-fbank and librosa', () => {
      const python = join(makeVenv('features', pythonPackages), 'python');
      return runPeers(python, ['kaldi', 'librosa']);
    }),
    ...attempt('torchaudio', () => {
      installTorchaudio();
      return runPeers('/usr/bin/python3', ['torchaudio']);
    }),
    ...attempt('transformers.js and meyda', () => {
      installNpm();
      return runProgram(process.execPath, [npmScript, audio, folder, npmFolder]);
    }),
  ];
  return new Map(series.map((one) => [one.name, one]));
}

function readFeatures(name: string): Float32Array {
  const bytes = readFileSync(join(folder, `${name}.f32`));
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** The speed row; features that differ miss the goal however fast they came. */
function compare(all: SeriesByName, goal: number, name: string, peer: string, ours: string): Row {
  const theirs = all.get(peer);
  const own = all.get(ours);
  const row = atLeast(goal, {
    name,
    unit: 'CPU ns/frame',
    peer: figure(theirs?.ns ?? []),
    ours: figure(own?.ns ?? []),
    note: '',
  });
  if (!theirs || !own) return row;
  const difference = largestDifference(readFeatures(peer), readFeatures(ours));
  const note = `largest difference ${difference.toExponential(1)}`;
  return { ...row, note, met: row.met && difference <= tolerance };
}

/** Numbers that follow conventions of their own are not compared. */
function compareSpeed(all: SeriesByName, name: string, peer: string, ours: string): Row {
  const [theirs, own] = [peer, ours].map((series) => figure(all.get(series)?.ns ?? []));
  const ratio = theirs && own ? theirs.median / own.median : null;
  const note = 'frames as long and as many; bands and scaling of its own';
  const figures = { peer: theirs ?? null, ours: own ?? null, ratio };
  return { name, unit: 'CPU ns/frame', ...figures, goal: 'none', met: ratio !== null, note };
}

const widths = [
  { lanes: 4, goal: 1, name: 'SSE2' },
  { lanes: 8, goal: 2, name: 'AVX2' },
  { lanes: 16, goal: 3, name: 'AVX-512' },
];

/** Baseline x86-64 is always there; wider vectors only where the processor has them. */
function fftwRows(all: SeriesByName, kind: string, title: string): Row[] {
  const present = widths.filter(({ lanes }) => lanes === 4 || all.has(`${kind}-lanes${lanes}`));
  return present.map(({ lanes, goal, name }) =>
    compare(all, goal, `${title}, ${name}, against FFTW`, `${kind}-fftw`, `${kind}-lanes${lanes}`),
  );
}

/** The cost per frame does not grow with the length of the recording. */
function lengthRow(all: SeriesByName): Row {
  return atMost(1.15, {
    name: 'log-mel 80: 600 s against 10 s',
    unit: 'CPU ns/frame',
    peer: figure(all.get('torchaudio-ours')?.ns ?? []),
    ours: figure(all.get('torchaudio-long-ours')?.ns ?? []),
    note: 'peer: 10 s',
  });
}

type Roofline = {
  readonly lanes: number;
  readonly flops: number;
  readonly gflops: readonly number[];
  readonly ns: readonly number[];
};

function rooflineRow({ lanes, flops, gflops, ns }: Roofline): Row {
  const peak = figure(gflops);
  return atMost(4, {
    name: `log-mel 80, ${widths.find((width) => width.lanes === lanes)?.name}, against the roofline`,
    unit: 'CPU ns/frame',
    peer: figure(gflops.map((rate) => flops / rate)),
    ours: figure(ns),
    note: `peer: ${flops} operations per frame at ${peak?.median.toFixed(0)} GFLOP/s`,
  });
}

export async function run(): Promise<readonly Row[]> {
  const all = measureAll();
  const roofline = readLines<Roofline>(buildBenchmark('roofline'), [audio]);
  return [
    ...fftwRows(all, 'log-mel', 'log-mel 80'),
    ...fftwRows(all, 'mfcc', 'MFCC 13'),
    compare(all, 15, 'log-mel 80 against kaldi-native-fbank', 'kaldi', 'kaldi-ours'),
    compare(all, 5, 'log-mel 80 against librosa', 'librosa', 'librosa-ours'),
    compare(all, 5, 'log-mel 80 against torchaudio, 10 s', 'torchaudio', 'torchaudio-ours'),
    compare(all, 20, 'log-mel 80 against torchaudio, 600 s', 'torchaudio-long', 'torchaudio-long-ours'),
    compare(all, 50, 'log-mel 80 against transformers.js', 'transformers', 'whisper-ours'),
    compareSpeed(all, 'MFCC 13 against meyda', 'meyda', 'mfcc-ours'),
    lengthRow(all),
    ...roofline.map(rooflineRow),
  ];
}
