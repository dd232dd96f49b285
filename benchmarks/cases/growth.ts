/**
 * How processor time and memory of an analysis grow: with the length of a recording, with its channels and speakers, and with the
 * connections of a service. `--long` adds twelve hours.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { atMost, cacheFolder, figure, type Row, root, runProgram } from '../case.ts';
import { forgetPeak, peakMebibytes, processorMs } from '../process.ts';
import {
  ask,
  buildService,
  closeConnections,
  closedLoop,
  formOf,
  recording,
  startService,
} from '../service.ts';
import { encodeLooped } from '../speech.ts';

const long = process.argv.includes('--long');
const hour = 3600;
/** Seconds of a recording. Each is compared with the one before. */
const lengths = [10, 60, 600, hour, ...(long ? [12 * hour] : [])];
/** Each is compared with one. */
const channels = [2, 8];
const connections = [1, 8, 64, 256];
/** Time per second of audio, and per request, by that of the row before. */
const limits = { length: 1.1, memory: 2, channels: 1.1, speakers: 2.5, connections: 1.1 };
const runs = 3;

type Cost = { readonly ms: number; readonly mebibytes: number };

/** The sample over and over, at 16 kbit/s per channel. */
function encode(seconds: number, count: number): string {
  const path = join(cacheFolder('growth'), `${seconds}-${count}.ogg`);
  if (existsSync(path)) return path;
  const codec = ['-ac', String(count), '-c:a', 'libopus', '-b:a', `${16 * count}k`, '-mapping_family', '255'];
  const length = ['-t', String(seconds)];
  if (seconds <= hour) encodeLooped(path, [...length, ...codec]);
  else encodeLooped(path, [...length, '-c:a', 'copy'], encode(hour, count));
  return path;
}

/** At its end the command prints what it took. */
const usage = `process.on('exit', () => console.log(JSON.stringify(process.resourceUsage())))`;
const command = [
  `--import=data:text/javascript,${encodeURIComponent(usage)}`,
  join(root, 'dist/src/cli.js'),
  'analyze',
];

function analyze(path: string, options: readonly string[]): Cost {
  const printed = runProgram(process.execPath, [...command, path, '--output', 'jsonl', ...options]);
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(printed.trim().split('\n').at(-1) ?? '');
  return { ms: (userCPUTime + systemCPUTime) / 1000, mebibytes: maxRSS / 1024 };
}

type Measured = {
  readonly seconds: number;
  readonly ms: readonly number[];
  readonly mebibytes: readonly number[];
};

function measure(seconds: number, count = 1, options: readonly string[] = []): Measured {
  const path = encode(seconds, count);
  const costs = Array.from({ length: seconds > hour ? 1 : runs }, () => analyze(path, options));
  return { seconds, ms: costs.map(({ ms }) => ms), mebibytes: costs.map(({ mebibytes }) => mebibytes) };
}

const perMinute = ({ ms, seconds }: Measured) => figure(ms.map((value) => (60 * value) / seconds));

/** Two rows: time and memory, by those of a smaller recording. */
function rowsOf(name: string, ours: Measured, than: string, peer: Measured, limit: number): readonly Row[] {
  const note = `peer: ${than}; ${ours.ms.length} runs of the command, its start included`;
  return [
    atMost(limit, { name, unit: 'CPU ms a minute', peer: perMinute(peer), ours: perMinute(ours), note }),
    atMost(limits.memory, {
      name: `${name}, peak memory`,
      unit: 'MiB',
      peer: figure(peer.mebibytes),
      ours: figure(ours.mebibytes),
      note,
    }),
  ];
}

const named = (seconds: number) => (seconds < hour ? `${seconds} s` : `${seconds / hour} h`);

async function connectionRows(): Promise<readonly Row[]> {
  const { port, pid, stop } = await startService({ UNDERTONE_QUEUE: String(Math.max(...connections)) });
  const form = formOf(recording);
  const post = async () => (await ask(port, '/v1/analyze', form)).ms;
  await closedLoop(8, 64, post);
  const found: { readonly count: number; readonly ms: number[]; readonly mebibytes: number }[] = [];
  for (const count of connections) {
    forgetPeak(pid);
    const ms: number[] = [];
    for (let run = 0; run < runs; run++) {
      const before = processorMs(pid);
      const requests = Math.max(64, 2 * count);
      await closedLoop(count, requests, post);
      ms.push((processorMs(pid) - before) / requests);
    }
    found.push({ count, ms, mebibytes: peakMebibytes(pid) });
  }
  closeConnections();
  await stop();
  return found.slice(1).flatMap(({ count, ms, mebibytes }, index): Row[] => {
    const { count: fewer, ...peer } = found[index] as (typeof found)[number];
    const note = `peer: ${fewer}; 10 s each, ${runs} runs`;
    const name = `${count} connections`;
    return [
      atMost(limits.connections, {
        name,
        unit: 'CPU ms a request',
        peer: figure(peer.ms),
        ours: figure(ms),
        note,
      }),
      atMost(limits.memory, {
        name: `${name}, peak memory`,
        unit: 'MiB',
        peer: figure([peer.mebibytes]),
        ours: figure([mebibytes]),
        note,
      }),
    ];
  });
}

export async function run(): Promise<readonly Row[]> {
  buildService();
  const plain = lengths.map((seconds) => measure(seconds));
  const minute = plain[lengths.indexOf(60)] as Measured;
  const rows = plain.slice(1).flatMap((ours, index) => {
    const peer = plain[index] as Measured;
    return rowsOf(named(ours.seconds), ours, named(peer.seconds), peer, limits.length);
  });
  for (const count of channels) {
    rows.push(
      ...rowsOf(`60 s, ${count} channels`, measure(60, count), 'one channel', minute, limits.channels),
    );
  }
  const speakers = lengths.filter((seconds) => seconds > 60);
  const separated = speakers.map((seconds) => measure(seconds, 1, ['--speakers', 'auto']));
  for (const [index, ours] of separated.entries()) {
    const name = `${named(ours.seconds)}, speakers=auto`;
    const peer = plain[lengths.indexOf(ours.seconds)] as Measured;
    rows.push(...rowsOf(name, ours, 'without speakers', peer, limits.speakers));
    const before = separated[index - 1];
    const shorter = before && `${named(before.seconds)}, speakers=auto`;
    if (shorter) rows.push(...rowsOf(`${name}, by length`, ours, shorter, before, limits.length));
  }
  return [...rows, ...(await connectionRows())];
}
