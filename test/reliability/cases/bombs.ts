/** Small files that would fill memory, or keep a processor busy, if their headers were believed or all of them decoded. */
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../../benchmarks/percentile.ts';
import {
  forgetPeak,
  livingThreadsMs,
  peakMebibytes,
  residentMebibytes,
} from '../../../benchmarks/process.ts';
import { call } from '../../support/http.ts';
import { contentType, multipart } from '../../support/upload.ts';
import { lies } from '../bombs/lies.ts';
import * as silence from '../bombs/silence.ts';
import { atMost, caught, exactly, type Options, type Row } from '../case.ts';
import { speechUpload } from '../load/speech.ts';
import { buildService, type Server, withServer } from '../service.ts';

const settings = { UNDERTONE_WORKERS: '1', UNDERTONE_LOG_LEVEL: 'warn' };
const mostMb = 64;
const settleMs = 200;
const warmUps = 10;

type Bomb = { readonly name: string; readonly bytes: Buffer; readonly silent: boolean };
type Blast = Bomb & {
  readonly status: number;
  readonly answer: string;
  readonly cpu: number;
  readonly mb: number;
};

type Limits = { readonly lieMs: number; readonly silenceMs: number };
type Exploded = { readonly blasts: readonly Blast[]; readonly plainMs: number };

/**
 * Silence may cost what a decode of the longest recording taken costs. A busy machine counts more time for the same work:
 * the short form compares with an analysis of ten seconds of speech in the same run.
 */
const limits = (long: boolean, plainMs: number): Limits =>
  long ? { lieMs: 100, silenceMs: 1000 } : { lieMs: 5 * plainMs, silenceMs: 50 * plainMs };

function makeBombs(): Bomb[] {
  const silent = {
    'FLAC of 10 h of silence': silence.silentFlac(10, true),
    'FLAC of 10 h of silence that claims nothing': silence.silentFlac(10, false),
    'FLAC of 2,000 changes of rate': silence.restlessFlac(2000),
    'Opus of 5 h of silence': silence.silentOpus(5),
    'Opus of 4,000 files in a row': silence.chainedOpus(4000),
    'M4A of 10 h of silence': silence.silentM4a(10),
    'MP3 of 1 h of silence': silence.silentMp3(1),
    'Vorbis of 1 h of silence': silence.silentVorbis(1),
  };
  const named = (files: Readonly<Record<string, Buffer>>, isSilent: boolean) =>
    Object.entries(files).map(([name, bytes]) => ({ name, bytes, silent: isSilent }));
  return [...named(lies(), false), ...named(silent, true)];
}

async function send({ port, token }: Server, body: Buffer): Promise<{ status: number; answer: string }> {
  const headers = { 'Content-Type': contentType, Authorization: `Bearer ${token}` };
  const { status, body: text } = await call(port, { method: 'POST', path: '/v1/analyze', headers, body });
  return { status, answer: status === 200 ? 'report' : (/"type":"([^"]+)"/.exec(text)?.[1] ?? text) };
}

async function blast(server: Server, bomb: Bomb, repeats: number): Promise<Blast> {
  const pid = server.process.pid as number;
  const body = multipart([{ name: 'audio', bytes: bomb.bytes }]);
  const tries: Blast[] = [];
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
  return { ...(tries[0] as Blast), cpu: least, mb: most };
}

/** One after the other on a service that has done some work; memory counts from what it holds before each. */
function explode(
  env: Readonly<Record<string, string>>,
  bombs: readonly Bomb[],
  repeats: number,
): Promise<Exploded> {
  return withServer({ ...settings, ...env }, async (server) => {
    const pid = server.process.pid as number;
    const plain: number[] = [];
    for (let count = 0; count < warmUps; count++) {
      const before = livingThreadsMs(pid);
      await send(server, speechUpload(10));
      plain.push(livingThreadsMs(pid) - before);
    }
    const blasts: Blast[] = [];
    for (const bomb of bombs) {
      const one = await blast(server, bomb, repeats);
      console.error(
        `${one.name}: ${one.status} ${one.answer}, ${one.cpu.toFixed(0)} ms, ${one.mb.toFixed(1)} MB`,
      );
      blasts.push(one);
    }
    return { blasts, plainMs: percentile(plain, 0.5) as number };
  });
}

function worstCpu(name: string, blasts: readonly Blast[], most: number): Row {
  const [worst] = [...blasts].sort((a, b) => b.cpu - a.cpu);
  return atMost(most, { name, unit: 'ms of CPU', value: worst?.cpu ?? null, note: worst?.name ?? '' });
}

function rows({ blasts, plainMs }: Exploded, long: boolean): Row[] {
  const { lieMs, silenceMs } = limits(long, plainMs);
  const broken = blasts.filter(({ status }) => status !== 200 && (status < 400 || status >= 500));
  const note = broken.map(({ name, status }) => `${name}: ${status}`).join('; ');
  return [
    ...blasts.map(({ name, mb, answer, cpu, bytes }) =>
      atMost(mostMb, {
        name,
        unit: 'MB over idle',
        value: mb,
        note: `${answer}, ${cpu.toFixed(0)} ms, ${bytes.length.toLocaleString('en')} bytes`,
      }),
    ),
    worstCpu(
      'most costly lie',
      blasts.filter(({ silent }) => !silent),
      lieMs,
    ),
    worstCpu(
      'most costly silence',
      blasts.filter(({ silent }) => silent),
      silenceMs,
    ),
    exactly(0, { name: 'neither a report nor a refusal', unit: 'answers', value: broken.length, note }),
  ];
}

export async function run({ long }: Options): Promise<readonly Row[]> {
  buildService();
  const bombs = makeBombs();
  const exploded = await explode({}, bombs, long ? 3 : 1);
  const hours = bombs.filter(({ name }) => name === 'FLAC of 10 h of silence');
  const planted = { UNDERTONE_MAX_SECONDS: '40000', UNDERTONE_DEADLINE_S: '5' };
  const unlimited = await explode(planted, hours, 1);
  return [...rows(exploded, long), caught('a limit of 40,000 s', rows(unlimited, long))];
}
