/** Small files that fill memory or take CPU time if the decoder trusts their headers or decodes everything. */
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../../benchmarks/percentile.ts';
import {
  forgetPeak,
  livingThreadsMs,
  peakMebibytes,
  residentMebibytes,
} from '../../../benchmarks/process.ts';
import { contentType, multipart } from '../../../benchmarks/upload-body.ts';
import { call } from '../../support/http.ts';
import { forgedHeaders } from '../bombs/forged-headers.ts';
import * as silence from '../bombs/silence.ts';
import { atMost, exactly, negativeControl, type Options, type Row } from '../case.ts';
import { buildService, type Server, withServer } from '../support/service.ts';
import { speechUpload } from '../support/speech.ts';

const settings = { UNDERTONE_WORKERS: '1', UNDERTONE_LOG_LEVEL: 'warn' };
const maxMb = 64;
const settleMs = 200;
const warmUps = 10;

type Bomb = { readonly name: string; readonly bytes: Buffer; readonly silent: boolean };
type Measurement = Bomb & {
  readonly status: number;
  readonly answer: string;
  readonly cpu: number;
  readonly mb: number;
};

type Limits = { readonly forgedMs: number; readonly silenceMs: number };
type Measurements = { readonly measurements: readonly Measurement[]; readonly plainMs: number };

/**
 * Silence may cost what a decode of the longest recording taken costs. A busy machine counts more time for the same work:
 * the short form compares with an analysis of ten seconds of speech in the same run.
 */
const limits = (long: boolean, plainMs: number): Limits =>
  long ? { forgedMs: 100, silenceMs: 1000 } : { forgedMs: 5 * plainMs, silenceMs: 50 * plainMs };

function makeBombs(): Bomb[] {
  const silent = {
    'FLAC of 10 h of silence': silence.silentFlac(10, true),
    'FLAC of 10 h of silence that claims nothing': silence.silentFlac(10, false),
    'FLAC of 2,000 changes of rate': silence.rateChangingFlac(2000),
    'Opus of 5 h of silence': silence.silentOpus(5),
    'Opus of 4,000 files in a row': silence.chainedOpus(4000),
    'M4A of 10 h of silence': silence.silentM4a(10),
    'MP3 of 1 h of silence': silence.silentMp3(1),
    'Vorbis of 1 h of silence': silence.silentVorbis(1),
  };
  const named = (files: Readonly<Record<string, Buffer>>, isSilent: boolean) =>
    Object.entries(files).map(([name, bytes]) => ({ name, bytes, silent: isSilent }));
  return [...named(forgedHeaders(), false), ...named(silent, true)];
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
  const least = Math.min(...tries.map(({ cpu }) => cpu));
  const most = Math.max(...tries.map(({ mb }) => mb));
  return { ...(tries[0] as Measurement), cpu: least, mb: most };
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
    for (const bomb of bombs) {
      const one = await measure(server, bomb, repeats);
      console.error(
        `${one.name}: ${one.status} ${one.answer}, ${one.cpu.toFixed(0)} ms, ${one.mb.toFixed(1)} MB`,
      );
      measurements.push(one);
    }
    return { measurements, plainMs: percentile(plain, 0.5) as number };
  });
}

function worstCpu(name: string, measurements: readonly Measurement[], most: number): Row {
  const [worst] = [...measurements].sort((a, b) => b.cpu - a.cpu);
  return atMost(most, name, 'ms of CPU', worst?.cpu ?? null, worst?.name ?? '');
}

function rows({ measurements, plainMs }: Measurements, long: boolean): Row[] {
  const { forgedMs, silenceMs } = limits(long, plainMs);
  const broken = measurements.filter(({ status }) => status !== 200 && (status < 400 || status >= 500));
  const note = broken.map(({ name, status }) => `${name}: ${status}`).join('; ');
  return [
    ...measurements.map(({ name, mb, answer, cpu, bytes }) =>
      atMost(
        maxMb,
        name,
        'MB over idle',
        mb,
        `${answer}, ${cpu.toFixed(0)} ms, ${bytes.length.toLocaleString('en')} bytes`,
      ),
    ),
    worstCpu(
      'most CPU time for a forged header',
      measurements.filter(({ silent }) => !silent),
      forgedMs,
    ),
    worstCpu(
      'most CPU time for silence',
      measurements.filter(({ silent }) => silent),
      silenceMs,
    ),
    exactly(0, 'neither a report nor a 4xx', 'answers', broken.length, note),
  ];
}

export async function run({ long }: Options): Promise<readonly Row[]> {
  buildService();
  const bombs = makeBombs();
  const measured = await measureAll({}, bombs, long ? 3 : 1);
  const hours = bombs.filter(({ name }) => name === 'FLAC of 10 h of silence');
  const noLimit = { UNDERTONE_MAX_SECONDS: '40000', UNDERTONE_DEADLINE_S: '5' };
  const unlimited = await measureAll(noLimit, hours, 1);
  return [...rows(measured, long), negativeControl('a limit of 40,000 s', rows(unlimited, long))];
}
