/** What a machine must have: processor time of a request by format, and memory of a worker. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, type Figure, figure, type Row } from '../case.ts';
import { processorMs, residentMebibytes } from '../process.ts';
import {
  ask,
  buildService,
  closeConnections,
  formOf,
  type Service,
  startService,
  times,
} from '../service.ts';
import { encodeLooped } from '../speech.ts';

const rounds = process.argv.includes('--long') ? 10 : 4;
const perRound = 16;
const seconds = 10;
/** Rates as a browser or a telephone records them, and codecs. */
const encodings = {
  wav: ['-ar', '16000'],
  flac: ['-ar', '48000'],
  mp3: ['-ar', '48000'],
  m4a: ['-ar', '48000'],
  webm: ['-ar', '48000', '-c:a', 'libopus'],
} as const;

export async function run(): Promise<readonly Row[]> {
  buildService();
  const one = await startService({ UNDERTONE_WORKERS: '1' });
  const idle = residentMebibytes(one.pid);
  const rows: Row[] = [];
  for (const [encoding, options] of Object.entries(encodings)) {
    const path = join(cacheFolder('sizing'), `${seconds}.${encoding}`);
    encodeLooped(path, ['-t', String(seconds), ...options]);
    rows.push(await measureRequest(one, encoding, formOf(readFileSync(path))));
  }
  await one.stop();
  const three = await startService({ UNDERTONE_WORKERS: '3' });
  const each = (residentMebibytes(three.pid) - idle) / 2;
  await three.stop();
  closeConnections();
  const note = 'resident, idle';
  return [
    ...rows,
    informational('a process with one worker', 'MiB', figure([idle]), note),
    informational('each further worker', 'MiB', figure([each]), note),
  ];
}

async function measureRequest({ port, pid }: Service, encoding: string, form: Buffer): Promise<Row> {
  const post = async () => (await ask(port, '/v1/analyze', form)).ms;
  const ms: number[] = [];
  await times(perRound, post);
  for (let round = 0; round < rounds; round++) {
    const before = processorMs(pid);
    await times(perRound, post);
    ms.push((processorMs(pid) - before) / perRound);
  }
  const cost = figure(ms);
  const median = cost?.median ?? Number.NaN;
  const hours = (median / seconds / 1000 / 3600) * 60e6;
  const note = `${(1000 / median).toFixed(1)} requests/s a core; a million minutes: ${hours.toFixed(0)} core hours`;
  return informational(`${seconds} s ${encoding}`, 'CPU ms a request', cost, note);
}

function informational(name: string, unit: string, ours: Figure | null, note: string): Row {
  return { name, unit, peer: null, ours, goal: 'none', ratio: null, met: ours !== null, note };
}
