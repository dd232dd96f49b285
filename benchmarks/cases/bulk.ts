/**
 * `undertone analyze` over many recordings, against openSMILE's features alone, a pipeline in Python with the same graphs and
 * ffmpeg, which only decodes them: each with a process or thread per core; ffmpeg starts a process per recording.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atLeast, atMost, cacheFolder, figure, inTurns, type Row, reaches, root } from '../case.ts';
import { makeVenv } from '../packages.ts';
import { stackPackages } from '../peers/stack.ts';
import { peakMebibytes } from '../process.ts';
import { buildService } from '../service.ts';
import { speechFile } from '../speech.ts';

const clips = process.argv.includes('--long') ? 4000 : 800;
const few = 60;
const rounds = 3;
/** As long as those of corpora of emotion. */
const clipSeconds = [2, 3, 3.5, 4, 5];
/** Of a core, times real time. */
const goal = 225;
const cores = availableParallelism();
const folder = cacheFolder('bulk');
const script = join(root, 'benchmarks', 'peers', 'bulk.py');

/** Writes the recordings. @returns the list of their paths, one per line, and their seconds */
function write(count: number): { readonly list: string; readonly seconds: number } {
  const paths = Array.from({ length: count }, (_, index) => join(folder, `${index}.wav`));
  const lengths = paths.map((_, index) => clipSeconds[index % clipSeconds.length] as number);
  for (const [index, path] of paths.entries())
    writeFileSync(path, speechFile(lengths[index] as number, 0.37 * index));
  const list = join(folder, `${count}.list`);
  writeFileSync(list, paths.map((path) => `${path}\n`).join(''));
  return { list, seconds: lengths.reduce((sum, length) => sum + length, 0) };
}

type Run = { readonly seconds: number; readonly mebibytes: number };

/** Wall time, and the most memory of the process itself. */
async function execute(program: string, args: readonly string[], env = {}): Promise<Run> {
  const started = performance.now();
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'close');
  let mebibytes = 0;
  while (child.exitCode === null && child.signalCode === null) {
    try {
      mebibytes = peakMebibytes(child.pid as number) || mebibytes;
    } catch {
      // It has ended.
    }
    await Promise.race([ended, sleep(50)]);
  }
  const seconds = (performance.now() - started) / 1000;
  if (child.exitCode !== 0) throw new Error(`Expected exit code 0 of ${program}, got ${child.exitCode}`);
  return { seconds, mebibytes };
}

const analyze = (list: string) =>
  execute(process.execPath, [join(root, 'dist/src/cli.js'), 'analyze', '--list', list, '--jsonl']);

async function runPeer(name: 'opensmile' | 'models', list: string): Promise<Run> {
  const packages = name === 'opensmile' ? ['opensmile==2.6.0'] : stackPackages;
  const python = join(makeVenv(name === 'opensmile' ? name : 'stack', packages), 'python');
  const env = { PEER_MODELS: join(root, 'models/standard'), PYTHONDONTWRITEBYTECODE: '1' };
  return execute(python, [script, name, list, String(cores)], env);
}

const decodeAll = (list: string) =>
  execute('xargs', [
    '-a',
    list,
    '-d',
    '\\n',
    '-P',
    String(cores),
    '-I',
    'FILE',
    ...'ffmpeg -nostdin -v error -i FILE -ar 16000 -ac 1 -f f32le -y /dev/null'.split(' '),
  ]);

export async function run(): Promise<readonly Row[]> {
  buildService();
  const all = write(clips);
  const short = write(few);
  await runPeer('opensmile', short.list);
  await runPeer('models', short.list);
  const fewPeak = figure([(await analyze(short.list)).mebibytes]);
  const peaks: number[] = [];
  const ownRun = async () => {
    const { seconds, mebibytes: peak } = await analyze(all.list);
    peaks.push(peak);
    return [seconds];
  };
  const sides = [
    ownRun,
    async () => [(await runPeer('opensmile', all.list)).seconds],
    async () => [(await runPeer('models', all.list)).seconds],
    async () => [(await decodeAll(all.list)).seconds],
  ];
  const [ours = null, opensmile = null, models = null, ffmpeg = null] = await inTurns(sides, rounds, (side) =>
    side(),
  );
  const note = `${clips} recordings, ${(all.seconds / 60).toFixed(0)} minutes of audio, ${cores} cores`;
  const times = all.seconds / (ours?.median ?? Number.NaN);
  return [
    reaches(goal * cores, 'real time, both signals', 'times', times, note),
    atLeast(5, { name: "openSMILE's eGeMAPS features alone", unit: 's', peer: opensmile, ours, note }),
    atLeast(1.15, {
      name: 'librosa and the same graphs, without pitch',
      unit: 's',
      peer: models,
      ours,
      note,
    }),
    {
      ...atMost(2, {
        name: 'ffmpeg, which only decodes',
        unit: 's',
        peer: ffmpeg,
        ours,
        note: 'a process per recording',
      }),
      goal: 'none',
      met: true,
    },
    atMost(1.1, {
      name: 'peak memory',
      unit: 'MiB',
      peer: fewPeak,
      ours: figure(peaks),
      note: `peer: ${few} recordings`,
    }),
  ];
}
