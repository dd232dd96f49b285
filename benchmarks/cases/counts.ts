/**
 * Instructions of the parts that every analysis goes through, against those that benchmarks/counts.json keeps: what grew
 * by more than its tolerance is missed. `--keep` keeps what was counted. Two injected slowdowns must miss. They are counted
 * by valgrind's callgrind: the same on a busy machine and on a quiet one.
 */

import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, cacheFolder, figure, type Row, root, runProgram } from '../case.ts';
import { buildBenchmark, installPackages } from '../packages.ts';
import { ask, buildServers, formOf, recording, times } from '../service.ts';

/** What the numbers are of; others than these cannot be compared with them. */
type Depends = Readonly<Record<'native' | 'request', string>>;
type Kept = { readonly depends: Depends; readonly counts: Readonly<Record<string, number>> };

type Count = {
  readonly name: string;
  readonly unit: string;
  readonly kind: keyof Depends;
  readonly value: number;
};

const keptFile = join(root, 'benchmarks', 'counts.json');
/** Timers of the service tick while valgrind takes its time. */
const tolerances: Readonly<Record<keyof Depends, number>> = { native: 1.05, request: 1.15 };
const seconds = 10;
const frames = 1000;

const sample = join(root, 'examples', 'sample.wav');
const mp3 = join(cacheFolder('counts'), 'sample.mp3');
const sampleSeconds = 39.5453;

const frame = 'instructions a frame';
const second = 'instructions a second of audio';
const tasks = [
  { name: 'log-mel 80, SSE2', args: ['log-mel-4'], unit: frame, per: frames },
  { name: 'log-mel 80, AVX2', args: ['log-mel-8'], unit: frame, per: frames },
  { name: 'MFCC 13, AVX2', args: ['mfcc-8'], unit: frame, per: frames },
  { name: 'pitch, level and tilt, AVX2', args: ['voice-8'], unit: frame, per: frames },
  { name: '44100 to 16000 Hz', args: ['resample'], unit: second, per: seconds },
  { name: 'decode WAV', args: ['decode', sample], unit: second, per: sampleSeconds },
  { name: 'decode MP3', args: ['decode', mp3], unit: second, per: sampleSeconds },
] as const;
const control = { name: 'log-mel 80, AVX2', args: ['log-mel-8'], per: frames };
const mainThread = 'request, main thread';
const otherThreads = 'request, other threads';

/** Without tags: they would hold the encoder's version. */
function makeMp3(): string {
  const options = ['-c:a', 'libmp3lame', '-b:a', '64k', '-map_metadata', '-1', '-fflags', '+bitexact'];
  runProgram('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-i', sample, ...options, mp3]);
  return createHash('sha256').update(readFileSync(mp3)).digest('hex').slice(0, 12);
}

function dependencies(mp3Digest: string): Depends {
  const version = (program: string, ...args: string[]) => runProgram(program, args).trim();
  const libraries = ['libavcodec', 'libavformat', 'soxr'].map(
    (name) => `${name} ${version('pkg-config', '--modversion', name)}`,
  );
  const compiler = `g++ ${version('g++', '-dumpfullversion')}`;
  const libc = version('getconf', 'GNU_LIBC_VERSION');
  return {
    native: [compiler, libc, ...libraries, `MP3 ${mp3Digest}`].join(', '),
    request: `Node ${process.version}, ${process.arch}`,
  };
}

function requestCounts({ mainThread: main, otherThreads: others }: RequestCount): Count[] {
  const unit = 'instructions a request';
  return [
    { name: mainThread, unit, kind: 'request', value: main },
    { name: otherThreads, unit, kind: 'request', value: others },
  ];
}

function compare({ name, unit, kind, value }: Count, kept: Kept, depends: Depends): Row {
  const before = kept.counts[name];
  const figures = { name, unit, peer: figure(before === undefined ? [] : [before]), ours: figure([value]) };
  if (kept.depends[kind] === depends[kind])
    return atMost(tolerances[kind], { ...figures, note: 'peer: kept' });
  const note = `not compared: kept with ${kept.depends[kind]}, this is ${depends[kind]}`;
  return { ...figures, ratio: null, goal: 'none', met: true, note };
}

/** A slowdown was put in: its count must miss the goal that the one without it meets. */
function notice(name: string, kind: keyof Depends, without: number, value: number): Row {
  const ratio = value / without;
  const goal = `> ${tolerances[kind]}`;
  const figures = { unit: 'instructions', peer: figure([without]), ours: figure([value]), ratio, goal };
  return {
    name: `negative control: ${name}`,
    ...figures,
    met: ratio > tolerances[kind],
    note: 'peer: without it',
  };
}

function readKept(): Kept {
  return JSON.parse(readFileSync(keptFile, 'utf8')) as Kept;
}

function keep(depends: Depends, counts: readonly Count[]): void {
  const kept: Kept = { depends, counts: Object.fromEntries(counts.map(({ name, value }) => [name, value])) };
  writeFileSync(keptFile, `${JSON.stringify(kept, null, 2)}\n`);
}

export async function run(): Promise<readonly Row[]> {
  installPackages(['valgrind']);
  const depends = dependencies(makeMp3());
  buildServers();
  const slowed = countRequest(['scan-thread', '1', 'slowed']);
  const asked = requestCounts(await countRequest(['scan-thread']));
  const [program, slowProgram] = ['counts', 'planted'].map(buildBenchmark) as [string, string];
  const native = tasks.map(({ name, args, unit, per }): Count => {
    return { name, unit, kind: 'native', value: Math.round(countWork(program, args) / per) };
  });
  const counts = [...native, ...asked];
  if (process.argv.includes('--keep')) keep(depends, counts);
  const counted = (name: string) => counts.find((count) => count.name === name)?.value ?? Number.NaN;
  const slow = countWork(slowProgram, control.args) / control.per;
  return [
    ...counts.map((count) => compare(count, readKept(), depends)),
    notice('the window applied twice', 'native', counted(control.name), slow),
    notice('headers copied sixty times', 'request', counted(mainThread), (await slowed).mainThread),
  ];
}

const warmUps = 10;
const requests = 30;
/** Without a compiler in the background a request takes the same way each time, if a longer one. */
const nodeOptions = ['--jitless', '--single-threaded', '--hash-seed=1', '--random-seed=1'];

/** Of one call of CountedWork in benchmarks/native/counts.cc. */
export function countWork(program: string, args: readonly string[]): number {
  const options = ['--tool=callgrind', '--toggle-collect=CountedWork'];
  const files = ['--callgrind-out-file=/dev/null', '--log-fd=1'];
  const output = runProgram('valgrind', [...options, ...files, program, ...args]);
  const count = Number(/Collected : (\d+)/.exec(output)?.[1]);
  if (count > 0) return count;
  throw new Error(`Expected a count of instructions, got ${output.slice(-400)}`);
}

/** Of one request in the thread that speaks HTTP, and in all the others together. */
type RequestCount = { readonly mainThread: number; readonly otherThreads: number };

/** The service of benchmarks/request/server.ts; the least of several requests, since timers and garbage collection come in between. */
async function countRequest(args: readonly string[]): Promise<RequestCount> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-counts-'));
  const valgrind = ['--tool=callgrind', '--separate-threads=yes', `--callgrind-out-file=${folder}/out`, '-q'];
  const child = fork(join(root, '.cache', 'request', 'server.js'), args, {
    cwd: root,
    execPath: 'valgrind',
    execArgv: [...valgrind, process.execPath, ...nodeOptions],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = once(child, 'close');
  try {
    const first = await Promise.race([once(child, 'message'), ended]);
    const port = Number((first[0] as { port?: number } | null)?.port);
    if (!(port > 0)) throw new Error(`Expected a server under valgrind, got ${first[0]}`);
    const form = formOf(recording);
    const post = async () => (await ask(port, '/v1/analyze/emotion', form)).ms;
    await times(warmUps, post);
    for (let request = 0; request < requests; request++) {
      runProgram('callgrind_control', ['-z', String(child.pid)]);
      await post();
      runProgram('callgrind_control', ['-d', String(child.pid)]);
    }
    return readCounts(folder);
  } finally {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Files are called out.REQUEST-THREAD, counted from 1; the first thread is the main one. */
function readCounts(folder: string): RequestCount {
  const files = readdirSync(folder).flatMap((file) => {
    const [, request, thread] = /^out\.(\d+)-(\d+)$/.exec(file) ?? [];
    const total = Number(/^totals: (\d+)/m.exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? 0);
    return request === undefined ? [] : [{ request: Number(request), main: Number(thread) === 1, total }];
  });
  const least = (main: boolean) => {
    const sums = Array.from({ length: requests }, (_, index) =>
      files
        .filter((file) => file.request === index + 1 && file.main === main)
        .reduce((sum, { total }) => sum + total, 0),
    );
    if (sums.includes(0))
      throw new Error(`Expected ${requests} counted requests, got ${sums.filter(Boolean).length}`);
    return Math.min(...sums);
  };
  return { mainThread: least(true), otherThreads: least(false) };
}
