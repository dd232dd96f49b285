/**
 * Instructions of the native parts that every analysis goes through, against those that benchmarks/counts.json keeps: what
 * grew by more than the tolerance is missed. `--keep` keeps what was counted. An injected slowdown must miss.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atMost, cacheFolder, figure, type Row, root, runProgram } from '../case.ts';
import { buildBenchmark } from '../native.ts';
import { installPackages } from '../packages.ts';

/** `depends`: counts with other versions cannot be compared. */
type Kept = { readonly depends: string; readonly counts: Readonly<Record<string, number>> };
type Count = { readonly name: string; readonly unit: string; readonly value: number };

const keptFile = join(root, 'benchmarks', 'counts.json');
const tolerance = 1.05;
const seconds = 10;
const frames = 1000;

const sample = join(root, 'examples', 'sample.wav');
const mp3 = join(cacheFolder('counts'), 'sample.mp3');
const sampleSeconds = 8.236;

const frame = 'instructions a frame';
const second = 'instructions a second of audio';
const control = { name: 'log-mel 80, AVX2', args: ['log-mel-avx2'], unit: frame, per: frames };
const tasks = [
  { name: 'log-mel 80, SSE2', args: ['log-mel-sse2'], unit: frame, per: frames },
  control,
  { name: 'MFCC 13, AVX2', args: ['mfcc-avx2'], unit: frame, per: frames },
  { name: 'pitch, level and tilt, AVX2', args: ['voice-avx2'], unit: frame, per: frames },
  { name: '44100 to 16000 Hz', args: ['resample'], unit: second, per: seconds },
  { name: 'decode WAV', args: ['decode', sample], unit: second, per: sampleSeconds },
  { name: 'decode MP3', args: ['decode', mp3], unit: second, per: sampleSeconds },
];

export async function run(): Promise<readonly Row[]> {
  installPackages(['valgrind']);
  const depends = dependencies(makeMp3());
  const [program, slowProgram] = ['counts', 'planted'].map(buildBenchmark) as [string, string];
  const counts = tasks.map((task) => countWork(program, task));
  if (process.argv.includes('--keep')) keep(depends, counts);
  const kept = JSON.parse(readFileSync(keptFile, 'utf8')) as Kept;
  const before = counts.find(({ name }) => name === control.name)?.value ?? Number.NaN;
  return [
    ...counts.map((count) => compare(count, kept, depends)),
    slowdownRow(before, countWork(slowProgram, control).value),
  ];
}

/** Without tags: they would hold the encoder's version. */
function makeMp3(): string {
  const options = ['-c:a', 'libmp3lame', '-b:a', '64k', '-map_metadata', '-1', '-fflags', '+bitexact'];
  runProgram('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-i', sample, ...options, mp3]);
  return createHash('sha256').update(readFileSync(mp3)).digest('hex').slice(0, 12);
}

function dependencies(mp3Digest: string): string {
  const version = (program: string, ...args: string[]) => runProgram(program, args).trim();
  const libraries = ['libavcodec', 'libavformat', 'soxr'].map(
    (name) => `${name} ${version('pkg-config', '--modversion', name)}`,
  );
  const compiler = `g++ ${version('g++', '-dumpfullversion')}`;
  return [compiler, version('getconf', 'GNU_LIBC_VERSION'), ...libraries, `MP3 ${mp3Digest}`].join(', ');
}

/** Of one call of CountedWork in benchmarks/native/counts.cc, by valgrind's callgrind: the same on a busy machine. */
function countWork(program: string, { name, args, unit, per }: typeof control): Count {
  const options = ['--tool=callgrind', '--toggle-collect=CountedWork'];
  const files = ['--callgrind-out-file=/dev/null', '--log-fd=1'];
  const output = runProgram('valgrind', [...options, ...files, program, ...args]);
  const count = Number(/Collected : (\d+)/.exec(output)?.[1]);
  if (count > 0) return { name, unit, value: Math.round(count / per) };
  throw new Error(`Expected a count of instructions, got ${output.slice(-400)}`);
}

function compare({ name, unit, value }: Count, kept: Kept, depends: string): Row {
  const before = kept.counts[name];
  const figures = { name, unit, peer: figure(before === undefined ? [] : [before]), ours: figure([value]) };
  if (kept.depends === depends) return atMost(tolerance, { ...figures, note: 'peer: kept' });
  const note = `not compared: kept with ${kept.depends}, this is ${depends}`;
  return { ...figures, ratio: null, goal: 'none', met: true, note };
}

/** A count with an injected slowdown must miss the goal that the one without it meets. */
function slowdownRow(before: number, value: number): Row {
  const ratio = value / before;
  const figures = { unit: frame, peer: figure([before]), ours: figure([value]), ratio };
  const name = 'negative control: the window applied twice';
  return { name, ...figures, goal: `> ${tolerance}`, met: ratio > tolerance, note: 'peer: without it' };
}

function keep(depends: string, counts: readonly Count[]): void {
  const kept: Kept = { depends, counts: Object.fromEntries(counts.map(({ name, value }) => [name, value])) };
  writeFileSync(keptFile, `${JSON.stringify(kept, null, 2)}\n`);
}
