/**
 * Log-mel and MFCC extraction against a plain FFTW loop, kaldi-native-fbank, torchaudio, asrfront and transformers.js: the same
 * samples, one thread each, results compared. Vectors of every width are measured against FFTW and against the
 * processor's peak arithmetic rate, the widest against the others.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode } from '../../src/tools/index.ts';
import {
  atLeast,
  atMost,
  cacheFolder,
  type Figure,
  figure,
  largestDifference,
  type Row,
  root,
  runProgram,
  succeeds,
} from '../case.ts';
import { buildBenchmark, installPackages, installTransformers, makeVenv, parseLines } from '../packages.ts';
import { speechFile } from '../speech.ts';

type Series = { readonly name: string; readonly ns: readonly number[] };
type Figures = ReadonlyMap<string, Figure | null>;

/** Log units; the largest difference that still counts as the same features. */
const tolerance = 1e-3;
const folder = cacheFolder('features');
const audio = join(folder, 'audio.f32');
const longSeconds = 600;
const peerScript = join(root, 'benchmarks', 'peers', 'features.py');
const npmScript = join(root, 'benchmarks', 'peers', 'features.mjs');
const pythonPackages = ['numpy==2.4.6', 'kaldi-native-fbank==1.22.5', 'asrfront==0.2.2'];

function installFftw(): void {
  if (!succeeds('pkg-config', ['--exists', 'fftw3f'])) installPackages(['libfftw3-dev']);
}

function installTorchaudio(): void {
  if (!succeeds('/usr/bin/python3', ['-c', 'import torchaudio'])) installPackages(['python3-torchaudio']);
}

function runPeers(interpreter: string, peers: readonly string[]): string {
  const args = ['OMP_NUM_THREADS=1', 'OPENBLAS_NUM_THREADS=1', interpreter, '-W', 'ignore', peerScript];
  return runProgram('env', [...args, audio, folder, ...peers]);
}

function measureAll(): Figures {
  const { samples } = decode(speechFile(longSeconds));
  writeFileSync(audio, samples);
  installFftw();
  installTorchaudio();
  const outputs = [
    runProgram(buildBenchmark('features'), [audio, folder]),
    runPeers(join(makeVenv('features', pythonPackages), 'python'), ['kaldi', 'asrfront']),
    runPeers('/usr/bin/python3', ['torchaudio']),
    runProgram(process.execPath, [npmScript, audio, folder, installTransformers()]),
  ];
  const peers = outputs.flatMap((output) => parseLines<Series>(output));
  return new Map(peers.map(({ name, ns }) => [name, figure(ns)]));
}

function readFeatures(name: string): Float32Array {
  const bytes = readFileSync(join(folder, `${name}.f32`));
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

type Sides = Pick<Parameters<typeof atLeast>[1], 'unit' | 'peer' | 'ours'>;

/** The figures of two series. */
function sides(all: Figures, peer: string, ours: string): Sides {
  return { unit: 'CPU ns/frame', peer: all.get(peer) ?? null, ours: all.get(ours) ?? null };
}

/** The speed row; features that differ miss the goal however fast they came. */
function compare(all: Figures, goal: number, name: string, peer: string, ours: string): Row {
  const difference = largestDifference(readFeatures(peer), readFeatures(ours));
  const note = `largest difference ${difference.toExponential(1)}`;
  const row = atLeast(goal, { name, note, ...sides(all, peer, ours) });
  return { ...row, met: row.met && difference <= tolerance };
}

const widths = [
  { lanes: 4, goal: 1, name: 'SSE2' },
  { lanes: 8, goal: 2, name: 'AVX2' },
  { lanes: 16, goal: 3, name: 'AVX-512' },
];

/** Baseline x86-64 is always there; wider vectors only where the processor has them. */
function fftwRows(all: Figures, kind: string, title: string): Row[] {
  const present = widths.filter(({ lanes }) => lanes === 4 || all.has(`${kind}-lanes${lanes}`));
  return present.map(({ lanes, goal, name }) =>
    compare(all, goal, `${title}, ${name}, against FFTW`, `${kind}-fftw`, `${kind}-lanes${lanes}`),
  );
}

/** What Whisper reads, against a front end in C with AVX2. */
function asrfrontRows(all: Figures): Row[] {
  const goals: Readonly<Record<number, number>> = { 8: 1.1, 16: 1.5 };
  return widths
    .filter(({ lanes }) => lanes in goals && all.has(`whisper-lanes${lanes}`))
    .map(({ lanes, name }) =>
      compare(
        all,
        goals[lanes] as number,
        `Whisper's log-mel 80, ${name}, against asrfront`,
        'asrfront',
        `whisper-lanes${lanes}`,
      ),
    );
}

function rooflineRows(all: Figures): Row[] {
  const present = widths.filter(({ lanes }) => all.has(`log-mel-peak-lanes${lanes}`));
  const note = 'peer: the operations of a frame at the peak rate';
  return present.map(({ lanes, name: width }) => {
    const name = `log-mel 80, ${width}, against the roofline`;
    return atMost(4, { name, note, ...sides(all, `log-mel-peak-lanes${lanes}`, `log-mel-lanes${lanes}`) });
  });
}

export async function run(): Promise<readonly Row[]> {
  const all = measureAll();
  const lengths = sides(all, 'torchaudio-ours', 'torchaudio-long-ours');
  return [
    ...fftwRows(all, 'log-mel', 'log-mel 80'),
    ...fftwRows(all, 'mfcc', 'MFCC 13'),
    compare(all, 15, 'log-mel 80 against kaldi-native-fbank', 'kaldi', 'kaldi-ours'),
    compare(all, 5, 'log-mel 80 against torchaudio, 10 s', 'torchaudio', 'torchaudio-ours'),
    compare(all, 20, 'log-mel 80 against torchaudio, 600 s', 'torchaudio-long', 'torchaudio-long-ours'),
    ...asrfrontRows(all),
    compare(all, 50, 'log-mel 80 against transformers.js', 'transformers', 'whisper-ours'),
    atMost(1.15, { name: 'log-mel 80: 600 s against 10 s', note: 'peer: 10 s', ...lengths }),
    ...rooflineRows(all),
  ];
}
