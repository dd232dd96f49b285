/** `undertone doctor --speed`: what one core of this machine handles, measured with a service of its own. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { createClient, type WebSocketConstructor } from '../../clients/typescript/src/index.ts';
import { wavHeader } from '../engine/index.ts';
import { failuresFolder, version } from '../node/paths.ts';
import { type CliContext, UsageError } from './context.ts';
import { percentile } from './evaluate/statistics.ts';
import { decode } from './index.ts';
import { processorMs, residentMebibytes } from './process-usage.ts';

/** Of the recording that is sent. */
const audioSeconds = 10;
const sampleRate = 16_000;
/** Of each worker, in the warm-up and in the measurement of the throughput. */
const connectionsPerWorker = 2;
const maxRequestMs = 100;
/** Rates of requests, as shares of the throughput. */
const shares = [0.3, 0.5, 0.65, 0.8];
const maxMessageMs = 1000;
/** Live sessions per core. */
const sessionCounts = [8, 16, 24, 32, 48];
const intervalSeconds = 3;
/** Shorter sessions have no measurement; longer ones show nothing new. */
const [minSessionSeconds, maxSessionSeconds] = [7, 30];
/** Parts of all seconds: each warm-up, throughput, each rate, each number of sessions. */
const parts = { warmUp: 0.04, throughput: 0.12, rate: 0.06, sessions: 0.1 };
const busyShare = 0.85;
const maxOthers = 0.05;
const frameMs = 250;
const maxLogCharacters = 2000;
/** Of no answers. */
const never = Number.POSITIVE_INFINITY;

const token = randomUUID();

/**
 * Starts the service with `UNDERTONE_MODELS_DIR` and `UNDERTONE_WORKERS` of the environment on a free port, and stops it. Prints a
 * line per figure as soon as it is measured.
 * @param seconds of the whole measurement, about
 */
export async function measureSpeed(seconds: number, workers: number, terminal: CliContext): Promise<void> {
  const { stdout, stderr } = terminal;
  const cores = availableParallelism();
  const print = (name: string, text: string) => stdout.write(`${name.padEnd(10)}  ${text}\n`);
  stderr.write(`measuring for about ${seconds} s; other work on this machine makes the figures worse\n`);
  const others = await busyShareOfMachine();
  print(
    'machine',
    `${cores} cores of ${cpus()[0]?.model ?? 'an unknown processor'}, Node.js ${process.versions.node}, undertone ${version}`,
  );
  if (others > maxOthers) print('warning', `other programs use ${percent(others)} of the cores`);
  const samples = speech();
  const body = await formOf(samples);

  const used = Math.min(workers, cores);
  const alone = workers === 1 ? null : await memoryOf(terminal, parts.warmUp * seconds, body);
  const service = await start(terminal, workers);
  try {
    const send = () => post(service.url, body);
    const load = { pid: service.pid, connections: connectionsPerWorker * workers, send };
    await throughput({ ...load, seconds: parts.warmUp * seconds });
    const idle = residentMebibytes(service.pid);
    const most = await throughput({ ...load, seconds: parts.throughput * seconds });
    print(
      'audio',
      `${((most.perSecond / used) * audioSeconds).toFixed(0)} hours per core and hour: ${most.perSecond.toFixed(1)} requests of ${audioSeconds} s per second, ${most.cpuMs.toFixed(1)} ms of a core each`,
    );
    print('requests', await fastRate(most.perSecond, used, parts.rate * seconds, send));
    print('sessions', await liveSessions(service.url, samples, used, parts.sessions * seconds));
    const each =
      alone === null
        ? ''
        : `, each worker after the first adds ${((idle - alone) / (workers - 1)).toFixed(0)} MiB`;
    print(
      'memory',
      `${idle.toFixed(0)} MiB with ${workers} ${workers === 1 ? 'worker' : 'workers'}${each}; ${residentMebibytes(service.pid).toFixed(0)} MiB after the load`,
    );
    print('bound by', boundOf(most.busy, workers < cores));
  } finally {
    await service.stop();
  }
}

/** Of a shell: 128 and the number of SIGINT. */
const interruptedCode = 130;

type Terminal = Pick<CliContext, 'env' | 'exit'>;
type Service = { readonly url: string; readonly pid: number; stop(): Promise<void> };

async function start({ env, exit }: Terminal, workers: number): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), 'undertone-speed-'));
  const sessions = String(Math.max(...sessionCounts) * availableParallelism());
  const settings = {
    UNDERTONE_HOST: '127.0.0.1',
    UNDERTONE_PORT: '0',
    UNDERTONE_DATA_DIR: dataDir,
    UNDERTONE_TOKEN: token,
    // The default port of the metrics may belong to a running service.
    UNDERTONE_METRICS_ADDRESS: 'public',
    UNDERTONE_WORKERS: String(workers),
    UNDERTONE_QUEUE: '1000',
    UNDERTONE_STREAM_SESSIONS: sessions,
    UNDERTONE_STREAM_ACCOUNT_SESSIONS: sessions,
    UNDERTONE_STREAM_BUFFER_BYTES: String(2 ** 34),
    ...(env.UNDERTONE_MODELS_DIR === undefined ? {} : { UNDERTONE_MODELS_DIR: env.UNDERTONE_MODELS_DIR }),
  };
  const others = Object.entries(env).filter(([name]) => !name.startsWith('UNDERTONE_'));
  const child = spawn(process.execPath, [process.argv[1] as string, 'serve'], {
    env: { ...Object.fromEntries(others), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const interrupted = () => void stop().then(() => exit(interruptedCode));
  const stop = async () => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, interrupted);
    child.kill();
    await ended;
    rmSync(dataDir, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupted);
  let log = '';
  child.stderr.on('data', (text) => {
    log = `${log}${text}`.slice(-maxLogCharacters);
  });
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  child.stdout.resume();
  const url = /http:\/\/\S+/.exec(String(line))?.[0];
  if (url === undefined) {
    await stop();
    throw new UsageError(`Expected the service to start, got:\n${log.trimEnd()}`);
  }
  return { url, pid: child.pid as number, stop };
}

/** Of a process with one worker. */
async function memoryOf(terminal: Terminal, seconds: number, body: Form): Promise<number> {
  const { pid, url, stop } = await start(terminal, 1);
  try {
    await throughput({ pid, connections: connectionsPerWorker, seconds, send: () => post(url, body) });
    return residentMebibytes(pid);
  } finally {
    await stop();
  }
}

/** Speech over and over, 16-bit. */
function speech(): Int16Array {
  const { samples } = decode(readFileSync(join(failuresFolder, 'words.flac')));
  return Int16Array.from({ length: audioSeconds * sampleRate }, (_, at) =>
    Math.round(32_767 * (samples[at % samples.length] as number)),
  );
}

type Form = { readonly type: string; readonly bytes: ArrayBuffer };

/** A WAV file as the part `audio`. */
async function formOf(samples: Int16Array): Promise<Form> {
  const header = wavHeader({ encoding: 's16le', sampleRate, channels: 1 }, samples.byteLength);
  const form = new FormData();
  form.set(
    'audio',
    new Blob([header as Uint8Array<ArrayBuffer>, samples as Int16Array<ArrayBuffer>]),
    'speech.wav',
  );
  const encoded = new Response(form);
  return { type: encoded.headers.get('content-type') as string, bytes: await encoded.arrayBuffer() };
}

/** @returns milliseconds to the whole answer */
async function post(url: string, { type, bytes }: Form): Promise<number> {
  const started = performance.now();
  const response = await fetch(new URL('v1/analyze', url), {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': type },
    body: bytes,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`Expected a report, got ${response.status}: ${text}`);
  return performance.now() - started;
}

type Load = {
  readonly pid: number;
  readonly connections: number;
  readonly seconds: number;
  readonly send: () => Promise<number>;
};

/** Each connection sends its next request when it has its answer. `busy`: share of the cores that the service keeps busy. */
async function throughput({ pid, connections, seconds, send }: Load) {
  let answers = 0;
  const [started, before] = [performance.now(), processorMs(pid)];
  const end = started + 1000 * seconds;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < end) {
        await send();
        answers++;
      }
    }),
  );
  const [ms, spent] = [performance.now() - started, processorMs(pid) - before];
  return {
    perSecond: (1000 * answers) / ms,
    cpuMs: spent / answers,
    busy: spent / ms / availableParallelism(),
  };
}

/** The highest rate of requests, at exponential intervals, of which 99 % are answered within `maxRequestMs`. */
async function fastRate(
  most: number,
  cores: number,
  seconds: number,
  send: () => Promise<number>,
): Promise<string> {
  let found = '';
  for (const share of shares) {
    const ms = await openLoop(share * most, seconds, send);
    const [p50, p99] = [percentile(ms, 0.5) ?? never, percentile(ms, 0.99) ?? never];
    const measured = `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms of ${ms.length} at ${percent(share)} of the throughput`;
    if (p99 > maxRequestMs) return found || `none within ${maxRequestMs} ms: ${measured}`;
    found = `${((share * most) / cores).toFixed(1)} per second and core within ${maxRequestMs} ms: ${measured}`;
  }
  return found;
}

async function openLoop(perSecond: number, seconds: number, send: () => Promise<number>): Promise<number[]> {
  const started = performance.now();
  const sent: Promise<number>[] = [];
  const gap = () => -(1000 / perSecond) * Math.log(Math.random());
  for (let at = started; at < started + 1000 * seconds; at += gap()) {
    await sleep(Math.max(0, at - performance.now()));
    const due = at;
    const answer = send().then(() => performance.now() - due);
    // An early rejection is thrown once all requests are sent.
    answer.catch(() => {});
    sent.push(answer);
  }
  return Promise.all(sent);
}

/** The most live sessions per core whose measurements come within `maxMessageMs`, 99 % of them. */
async function liveSessions(
  url: string,
  samples: Int16Array,
  cores: number,
  seconds: number,
): Promise<string> {
  const client = createClient({ url, token, WebSocket: WebSocket as unknown as WebSocketConstructor });
  const each = Math.min(maxSessionSeconds, Math.max(minSessionSeconds, seconds));
  const counts = sessionCounts.slice(0, Math.max(1, Math.floor((sessionCounts.length * seconds) / each)));
  let found = '';
  for (const count of counts) {
    const p99 = percentile(await streamAtOnce(client, samples, count * cores, each), 0.99) ?? never;
    const measured = `p99 of their measurements is ${p99.toFixed(0)} ms`;
    if (p99 > maxMessageMs) return found || `fewer than ${count} live sessions per core: ${measured}`;
    found = `${count} live sessions per core: ${measured}`;
  }
  return `${found}, more were not tried`;
}

type Client = ReturnType<typeof createClient>;

/** Sessions start evenly within an interval. @returns how late each measurement came, ms */
async function streamAtOnce(
  client: Client,
  samples: Int16Array,
  sessions: number,
  seconds: number,
): Promise<number[]> {
  const spread = (1000 * intervalSeconds) / sessions;
  const stop = performance.now() + 1000 * (seconds + intervalSeconds);
  const each = Array.from({ length: sessions }, async (_, index) => {
    await sleep(index * spread);
    return streamOnce(client, samples, stop);
  });
  return (await Promise.all(each)).flat();
}

/** Streams until `stop`, as performance.now(), and ends without a report: reports of all at once would delay measurements. */
async function streamOnce(client: Client, samples: Int16Array, stop: number): Promise<number[]> {
  const config = {
    encoding: 's16le',
    sample_rate_hz: sampleRate,
    channels: 1,
    interval_s: intervalSeconds,
  } as const;
  const ending = new AbortController();
  const session = await client.stream(config, { signal: ending.signal });
  const started = performance.now();
  const late: number[] = [];
  const read = (async () => {
    for await (const message of session)
      if (message.type === 'measurement')
        late.push(performance.now() - started - 1000 * dueOf(message.end_s));
  })().catch((error: unknown) => {
    if (!ending.signal.aborted) throw error;
  });
  read.catch(() => {});
  const frame = (sampleRate * frameMs) / 1000;
  for (let at = 0; performance.now() < stop; at += frameMs) {
    await sleep(Math.max(0, started + at + frameMs - performance.now()));
    const from = ((at / frameMs) * frame) % samples.length;
    await session.send(samples.subarray(from, from + frame));
  }
  ending.abort();
  await read;
  return late;
}

/** The samples up to the next multiple of the interval decide a measurement, which ends shortly before. */
const dueOf = (endSeconds: number) => Math.ceil(endSeconds / intervalSeconds) * intervalSeconds;

function boundOf(busy: number, fewWorkers: boolean): string {
  const share = `at the throughput the service keeps ${percent(busy)} of the cores busy`;
  if (fewWorkers) return `the workers, fewer than the cores: ${share}`;
  if (busy < busyShare)
    return `not the cores alone: ${share}; this measurement and other programs use the rest`;
  return `the cores: ${share}`;
}

const percent = (share: number) => `${Math.round(100 * share)} %`;

/** Share of the cores that are not idle, over half a second. */
async function busyShareOfMachine(): Promise<number> {
  const read = () => {
    const times = cpus().map((cpu) => cpu.times);
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((own) => Object.values(own))) };
  };
  const before = read();
  await sleep(500);
  const after = read();
  return 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all);
}
