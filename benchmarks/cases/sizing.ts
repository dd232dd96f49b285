/**
 * What a machine must have: processor time of a request by format and length, memory of a worker, and whether what
 * follows from them for 1, 2 and 3 processes is what they do together.
 */

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { atMost, cacheFolder, type Figure, figure, type Row, root, runProgram } from '../case.ts';
import { processorMs, residentMebibytes } from '../process.ts';
import { ask, closeConnections, closedLoop, formOf } from '../request/client.ts';
import { buildService, type Service, startService } from '../service.ts';

const long = process.argv.includes('--long');
const rounds = long ? 10 : 4;
const lengths = [3, 10, 60] as const;
const encodings = ['wav', 'flac', 'mp3', 'm4a', 'ogg', 'webm'] as const;
/** Each process is kept busy by as many clients. */
const clientsEach = 2;
const secondsAt = (seconds: number) => Math.max(4, Math.round(160 / seconds));

export async function run(): Promise<readonly Row[]> {
  buildService();
  const { rows, memory } = await measureOne();
  return [...rows, ...memory, ...(await measureMany())];
}

/** Speech over and over, 48 kHz as a browser records it. */
function recording(encoding: string, seconds: number): Buffer {
  const path = join(cacheFolder('sizing'), `${seconds}.${encoding}`);
  const source = ['-stream_loop', '-1', '-i', join(root, 'examples/sample.wav')];
  const codec = encoding === 'ogg' || encoding === 'webm' ? ['-c:a', 'libopus'] : [];
  const output = ['-t', String(seconds), '-ar', encoding === 'wav' ? '16000' : '48000', ...codec, path];
  runProgram('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...source, ...output]);
  return readFileSync(path);
}

async function measureOne(): Promise<{ rows: Row[]; memory: Row[] }> {
  const service = await startService({ UNDERTONE_WORKERS: '1' });
  const idle = residentMebibytes(service.pid);
  const rows: Row[] = [];
  for (const seconds of lengths) {
    for (const encoding of encodings) rows.push(await measureRequest(service, encoding, seconds));
  }
  await service.stop();
  const three = await startService({ UNDERTONE_WORKERS: '3' });
  const each = (residentMebibytes(three.pid) - idle) / 2;
  await three.stop();
  closeConnections();
  const note = 'resident, idle';
  const memory = [
    told('a process with one worker', 'MiB', figure([idle]), note),
    told('each further worker', 'MiB', figure([each]), note),
  ];
  return { rows, memory };
}

async function measureRequest({ port, pid }: Service, encoding: string, seconds: number): Promise<Row> {
  const form = formOf(recording(encoding, seconds));
  const count = secondsAt(seconds);
  const ms: number[] = [];
  await closedLoop(1, count, async () => (await ask(port, '/v1/analyze', form)).ms);
  for (let index = 0; index < rounds; index++) {
    const before = processorMs(pid);
    await closedLoop(1, count, async () => (await ask(port, '/v1/analyze', form)).ms);
    ms.push((processorMs(pid) - before) / count);
  }
  const cost = figure(ms);
  const perSecond = 1000 / (cost?.median ?? Number.NaN);
  const hours = ((cost?.median ?? Number.NaN) / seconds / 1000 / 3600) * 60e6;
  const note = `${perSecond.toFixed(1)} requests/s a core; a million minutes: ${hours.toFixed(0)} core hours`;
  return told(`${seconds} s ${encoding}`, 'CPU ms a request', cost, note);
}

/** Requests/s that 1, 2 and 3 processes give, against what one request's processor time lets expect. */
async function measureMany(): Promise<Row[]> {
  const seconds = 30;
  const form = formOf(recording('wav', seconds));
  const rows: Row[] = [];
  for (const processes of [1, 2, 3]) {
    const services = await Promise.all(
      Array.from({ length: processes }, () => startService({ UNDERTONE_WORKERS: '1' })),
    );
    const measured: number[] = [];
    const expected: number[] = [];
    for (let index = 0; index <= rounds; index++) {
      const { clock, cpu } = await loadAll(services, form);
      // The first warms up.
      if (index === 0) continue;
      measured.push(clock);
      expected.push(cpu / Math.min(processes, availableParallelism()));
    }
    closeConnections();
    await Promise.all(services.map((service) => service.stop()));
    rows.push(
      atMost(1.2, {
        name: `${processes} processes of one worker, ${seconds} s WAV, against the model`,
        unit: 'ms a request',
        peer: figure(expected),
        ours: figure(measured),
        note: 'model: processor time of a request over the lesser of processes and cores',
      }),
    );
  }
  return rows;
}

/** Milliseconds a request of all processes together: of the clock, and of their processors. */
async function loadAll(services: readonly Service[], form: Buffer): Promise<{ clock: number; cpu: number }> {
  const count = 8 * services.length;
  const used = () => services.reduce((sum, { pid }) => sum + processorMs(pid), 0);
  const before = used();
  const started = performance.now();
  const analyses = services.map(({ port }) =>
    closedLoop(clientsEach, 8, async () => (await ask(port, '/v1/analyze', form)).ms),
  );
  await Promise.all(analyses);
  return { clock: (performance.now() - started) / count, cpu: (used() - before) / count };
}

function told(name: string, unit: string, ours: Figure | null, note: string): Row {
  return { name, unit, peer: null, ours, goal: 'none', ratio: null, met: ours !== null, note };
}
