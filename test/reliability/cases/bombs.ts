/** Small files that fill memory or take CPU time if the decoder trusts their headers or decodes everything. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { installPackages } from '../../../benchmarks/packages.ts';
import {
  forgetPeak,
  livingThreadsMs,
  peakMebibytes,
  residentMebibytes,
} from '../../../benchmarks/process.ts';
import { contentType, multipart } from '../../../benchmarks/upload-body.ts';
import { percentile } from '../../../src/tools/evaluate/statistics.ts';
import { call } from '../../support/http.ts';
import { atMost, negativeControl, none, type Options, type Row } from '../case.ts';
import { ffmpeg, generateFiles, tools } from '../corpus/encodings.ts';
import type { Source } from '../corpus/malformed.ts';
import { makeMalformed } from '../corpus/sources.ts';
import { speechUpload } from '../support/requests.ts';
import { buildService, type Server, withServer } from '../support/service.ts';

const settings = { UNDERTONE_WORKERS: '1', UNDERTONE_LOG_LEVEL: 'warn' };
const maxMb = 64;
const settleMs = 200;
const warmUps = 10;

type Kind = 'forged header' | 'silence';
type Bomb = Source & { readonly kind: Kind };
type Measurement = Bomb & {
  readonly status: number;
  readonly answer: string;
  readonly cpu: number;
  readonly mb: number;
};
type Measurements = { readonly measurements: readonly Measurement[]; readonly plainMs: number };

/**
 * Silence may cost what a decode of the longest recording taken costs. A busy machine counts more time for the same work:
 * the short form compares with an analysis of ten seconds of speech in the same run.
 */
const limits = (long: boolean, plainMs: number): Readonly<Record<Kind, number>> =>
  long ? { 'forged header': 100, silence: 1000 } : { 'forged header': 5 * plainMs, silence: 50 * plainMs };

/** Hours of silence by container, and the codec. */
const silent: Readonly<Record<string, readonly [hours: number, ...codec: string[]]>> = {
  flac: [10],
  opus: [5, '-c:a', 'libopus', '-b:a', '6k'],
  m4a: [10, '-c:a', 'aac', '-b:a', '8k'],
  mp3: [1, '-b:a', '8k'],
  ogg: [1, '-c:a', 'libvorbis', '-q:a', '0'],
};

/** One encoded minute, its packets repeated without encoding them again. */
async function silentFiles(): Promise<Bomb[]> {
  const folder = cacheFolder('reliability/silence');
  const files = Object.entries(silent).map(([container, [hours, ...codec]]) => {
    const minute = join(folder, `minute.${container}`);
    const file = join(folder, `${hours}-hours.${container}`);
    const source = ['-f', 'lavfi', '-t', '60', '-i', 'anullsrc=r=8000:cl=mono'];
    const repeat = ['-stream_loop', String(60 * hours - 1), '-i', minute, '-c', 'copy'];
    const name = `${hours} h of silence in ${container}`;
    return { name, file, minute: ffmpeg(minute, ...source, ...codec), whole: ffmpeg(file, ...repeat) };
  });
  await generateFiles(
    'silence',
    files.map(({ minute }) => minute),
  );
  await generateFiles(
    'hours of silence',
    files.map(({ whole }) => whole),
  );
  return files.map(({ name, file }) => ({ name, bytes: readFileSync(file), kind: 'silence' }));
}

async function send({ port, token }: Server, body: Buffer): Promise<{ status: number; answer: string }> {
  const headers = { 'Content-Type': contentType, Authorization: `Bearer ${token}` };
  const { status, body: text } = await call(port, { method: 'POST', path: '/v1/analyze', headers, body });
  return { status, answer: status === 200 ? 'report' : (/"type":"([^"]+)"/.exec(text)?.[1] ?? text) };
}

async function measure(server: Server, bomb: Bomb, repeats: number): Promise<Measurement> {
  const pid = server.process.pid as number;
  const body = multipart([{ name: 'audio', bytes: bomb.bytes }]);
  const tries: Measurement[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    await sleep(settleMs);
    const idleMb = residentMebibytes(pid);
    forgetPeak(pid);
    const before = livingThreadsMs(pid);
    const sent = await send(server, body);
    tries.push({ ...bomb, ...sent, cpu: livingThreadsMs(pid) - before, mb: peakMebibytes(pid) - idleMb });
  }
  const cpu = Math.min(...tries.map((one) => one.cpu));
  const mb = Math.max(...tries.map((one) => one.mb));
  return { ...(tries[0] as Measurement), cpu, mb };
}

/** Sends one file at a time to a warm service; memory counts from the resident set before each. */
function measureAll(
  env: Readonly<Record<string, string>>,
  bombs: readonly Bomb[],
  repeats: number,
): Promise<Measurements> {
  return withServer({ ...settings, ...env }, async (server) => {
    const pid = server.process.pid as number;
    const plain: number[] = [];
    for (let count = 0; count < warmUps; count++) {
      const before = livingThreadsMs(pid);
      await send(server, speechUpload(10));
      plain.push(livingThreadsMs(pid) - before);
    }
    const measurements: Measurement[] = [];
    for (const bomb of bombs) measurements.push(await measure(server, bomb, repeats));
    return { measurements, plainMs: percentile(plain, 0.5) as number };
  });
}

function largest(measurements: readonly Measurement[], read: (one: Measurement) => number) {
  const [worst] = measurements.toSorted((a, b) => read(b) - read(a));
  const note = worst && `${worst.name}: ${worst.answer}, ${worst.bytes.length.toLocaleString('en')} bytes`;
  return [worst === undefined ? null : read(worst), note] as const;
}

function rowsOf({ measurements, plainMs }: Measurements, kind: Kind, long: boolean): Row[] {
  const ofKind = measurements.filter((one) => one.kind === kind);
  const broken = ofKind.filter(({ status }) => status !== 200 && (status < 400 || status >= 500));
  const faults = broken.map(({ name, status }) => `${name}: ${status}`);
  return [
    atMost(maxMb, `${kind}: most memory`, 'MB over idle', ...largest(ofKind, ({ mb }) => mb)),
    atMost(limits(long, plainMs)[kind], `${kind}: most CPU time`, 'ms', ...largest(ofKind, ({ cpu }) => cpu)),
    none(`${kind}: neither a report nor a 4xx`, faults, ofKind.length),
  ];
}

export async function run({ long }: Options): Promise<readonly Row[]> {
  installPackages(tools);
  buildService();
  const forged = (await makeMalformed()).map((file): Bomb => ({ ...file, kind: 'forged header' }));
  const silence = await silentFiles();
  const measured = await measureAll({}, [...forged, ...silence], long ? 3 : 1);
  const noLimit = { UNDERTONE_MAX_SECONDS: '40000', UNDERTONE_DEADLINE_S: '5' };
  const unlimited = await measureAll(noLimit, silence.slice(0, 1), 1);
  return [
    ...rowsOf(measured, 'forged header', long),
    ...rowsOf(measured, 'silence', long),
    negativeControl('a limit of 40,000 s', rowsOf(unlimited, 'silence', long)),
  ];
}
