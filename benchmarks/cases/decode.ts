/**
 * CPU time of decode + resample + features against the bare libav decode of the same minute of stereo speech, and
 * that of a WAV of 10 s alone; and the memory that a quarter of an hour of stereo MP3 takes in the service.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixturesFolder } from '../../scripts/recordings.ts';
import { atMost, cacheFolder, figure, type Row, runProgram, withinLimit } from '../case.ts';
import { buildBenchmark, parseLines } from '../packages.ts';
import { forgetPeak, peakMebibytes, residentMebibytes } from '../process.ts';
import { ask, buildService, closeConnections, formOf, startService } from '../service.ts';
import { encodeLooped } from '../speech.ts';

type Line = {
  readonly name: string;
  readonly ours: readonly number[];
  readonly peer: readonly number[];
};

const rounds = 15;
const memoryRounds = 2;
const memoryMebibytes = 160;
const folder = cacheFolder('decode');

/** File, how FFmpeg makes it, and the goal. */
const files: readonly (readonly [name: string, goal: number, arguments_: readonly string[]])[] = [
  ['speech.mp3', 1.4, ['-c:a', 'libmp3lame', '-b:a', '128k']],
  ['speech.m4a', 1.6, ['-c:a', 'aac', '-b:a', '128k']],
  ['speech.flac', 1.4, ['-c:a', 'flac']],
  ['vorbis.ogg', 1.4, ['-c:a', 'libvorbis', '-q:a', '4']],
  ['opus.ogg', 1.4, ['-c:a', 'libopus', '-b:a', '64k']],
];
const wav = '10s-16k-mono.wav';
const wavMs = 1;

function make(name: string, args: readonly string[]): string {
  const path = join(folder, name);
  const speech = join(fixturesFolder(), 'speech.wav');
  if (!existsSync(path)) encodeLooped(path, args, speech);
  return path;
}

function compare(line: Line): Row {
  const goal = files.find(([name]) => name === line.name)?.[1] ?? 1.4;
  return atMost(goal, {
    name: line.name,
    unit: 'ms',
    peer: figure(line.peer),
    ours: figure(line.ours),
    note: '60 s, 44.1 or 48 kHz stereo',
  });
}

function within(line: Line): Row {
  const ours = figure(line.ours);
  const figures = { name: line.name, unit: 'ms', peer: figure(line.peer), ours, ratio: null, note: '10 s' };
  return { ...figures, goal: `<= ${wavMs} ms`, met: ours !== null && ours.median <= wavMs };
}

/** Above what the service holds while nobody asks, all stages of the analysis included. */
async function memoryRow(): Promise<Row> {
  const path = make('899s.mp3', ['-t', '899', '-c:a', 'libmp3lame', '-b:a', '128k']);
  const form = formOf(readFileSync(path));
  buildService();
  const service = await startService({ UNDERTONE_WORKERS: '1', UNDERTONE_DEADLINE_S: '300' });
  const peaks: number[] = [];
  for (let round = 0; round < memoryRounds; round++) {
    const idle = residentMebibytes(service.pid);
    forgetPeak(service.pid);
    await ask(service.port, '/v1/analyze', form);
    peaks.push(peakMebibytes(service.pid) - idle);
  }
  closeConnections();
  await service.stop();
  const note = `${(form.length / 2 ** 20).toFixed(1)} MiB of upload; again: ${peaks[1]?.toFixed(0)} MiB`;
  const name = '899 s of stereo MP3 analysed, peak memory above idle';
  return withinLimit(memoryMebibytes, name, 'MiB', figure(peaks.slice(0, 1)), note);
}

export async function run(): Promise<readonly Row[]> {
  const program = buildBenchmark('decode');
  const paths = files.map(([name, , args]) => make(name, ['-t', '60', ...args]));
  const mono = make(wav, ['-t', '10', '-ac', '1', '-ar', '16000']);
  const lines = parseLines<Line>(runProgram(program, [String(rounds), ...paths])).map(compare);
  const short = parseLines<Line>(runProgram(program, [String(rounds * 10), mono]));
  return [...lines, ...short.map(within), await memoryRow()];
}
