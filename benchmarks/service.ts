/** Services that a benchmark measures, each a process of its own, and the clients that send requests to them. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, runProgram } from './case.ts';
import type { Usage } from './request/server.ts';
import { speechFile } from './speech.ts';
import { contentType, multipart } from './upload-body.ts';

export type Service = {
  readonly port: number;
  readonly pid: number;
  /** From the start of the process to the line that says it listens. */
  readonly readyMs: number;
  stop(): Promise<void>;
};

/** The other workers load after the line. */
const loadMs = 2000;

/** From the sources as they are. */
export function buildService(): void {
  runProgram('npm', ['run', '--silent', 'build:service']);
  runProgram('npm', ['run', '--silent', 'build:pages']);
}

/** The set that `undertone models add` makes of an exported folder. */
export function addModel(folder: string): string {
  const out = `${folder}-set`;
  rmSync(out, { recursive: true, force: true });
  runProgram(process.execPath, [join(root, 'dist/src/cli.js'), 'models', 'add', folder, '--out', out]);
  return out;
}

/**
 * @param nodeArguments options of Node.js
 * @param folder another built tree
 * @param prefix a command that runs the one after it
 */
export async function startService(
  env: Readonly<Record<string, string>> = {},
  nodeArguments: readonly string[] = [],
  folder = root,
  prefix: readonly string[] = [],
  node = process.execPath,
): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), 'undertone-bench-'));
  const settings = {
    UNDERTONE_PORT: '0',
    UNDERTONE_METRICS_ADDRESS: 'public',
    UNDERTONE_DATA_DIR: dataDir,
    UNDERTONE_TOKEN: token,
    // As scripts/start and the files of deploy/ have it.
    GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
  };
  const started = performance.now();
  const serve = [node, ...nodeArguments, join(folder, 'dist/src/cli.js'), 'serve'];
  const [command, ...args] = [...prefix, ...serve] as [string, ...string[]];
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, ...settings, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'close');
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  const readyMs = performance.now() - started;
  await sleep(loadMs);
  const port = Number(/:(\d+)\n/.exec(String(line))?.[1]);
  if (!(port > 0)) throw new Error(`Expected the service to listen, got exit code ${String(line)}`);
  return {
    port,
    pid: child.pid as number,
    readyMs,
    stop: async () => {
      child.kill();
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A server of benchmarks/request/server.ts, which reports its processor time. */
export type Forked = { readonly port: number; usage(): Promise<Usage>; stop(): void };

export function buildServers(): void {
  runProgram('node_modules/.bin/rolldown', ['-c', 'benchmarks/request/rolldown.config.mjs']);
}

/** `raw` needs no thread; the others are what the service's threads run. */
export type Kind = 'raw' | 'scan-thread' | 'graph-thread' | 'models-thread';

export async function forkServer(kind: Kind, workers = 1): Promise<Forked> {
  const child = fork(join(root, '.cache', 'request', 'server.js'), [kind, String(workers)], {
    cwd: root,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const usage = async () => {
    child.send('usage');
    const [answer] = (await once(child, 'message')) as [{ usage: Usage }];
    return answer.usage;
  };
  return { port, usage, stop: () => child.disconnect() };
}

export const token = 'static-token-of-the-benchmark';
/** 10 s of 16 kHz mono PCM, 320 kB. */
export const recording = speechFile(10);
/** Keeps its connections. */
const agent = new Agent({ keepAlive: true });

/** The form that uploads a recording. */
export function formOf(bytes: Uint8Array): Buffer {
  return multipart([{ name: 'audio', bytes, type: 'audio/wav', filename: 'x.wav' }]);
}

export type Answer = {
  /** From the first byte sent to the last one received. */
  readonly ms: number;
  readonly body: Buffer;
  /** By the header Server-Timing. */
  readonly stages: ReadonlyMap<string, number>;
};

export function ask(port: number, path: string, form?: Buffer): Promise<Answer> {
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(form && { 'Content-Type': contentType, 'Content-Length': form.length }),
  };
  const method = form ? 'POST' : 'GET';
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const sent = request({ port, host: '127.0.0.1', method, path, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const body = Buffer.concat(chunks);
        const stages = parseStages(String(response.headers['server-timing'] ?? ''));
        if (response.statusCode === 200) resolve({ ms: performance.now() - started, body, stages });
        else reject(new Error(`Expected 200 for \`${path}\`, got ${response.statusCode}: ${body}`));
      });
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed the connection because it had been idle.
      if (sent.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(error.code ?? '')) resolve(ask(port, path, form));
      else reject(error);
    });
    sent.end(form);
  });
}

function parseStages(header: string): Answer['stages'] {
  return new Map(
    [...header.matchAll(/([\w-]+);dur=([\d.]+)/g)].map(([, name = '', ms]) => [name, Number(ms)]),
  );
}

const form = formOf(recording);

export function analyze(port: number, path = '/v1/analyze'): Promise<Answer> {
  return ask(port, path, form);
}

/** @returns milliseconds from the first byte sent to the last one received */
export async function post(port: number, path?: string): Promise<number> {
  return (await analyze(port, path)).ms;
}

/** One after the other. */
export async function times(count: number, run: () => Promise<number>): Promise<number[]> {
  const milliseconds: number[] = [];
  for (let index = 0; index < count; index++) milliseconds.push(await run());
  return milliseconds;
}

/** Milliseconds a request when each of `clients` asks again as soon as it was answered. */
export async function closedLoop(
  clients: number,
  count: number,
  run: () => Promise<number>,
): Promise<number> {
  const started = performance.now();
  await Promise.all(Array.from({ length: clients }, () => times(Math.ceil(count / clients), run)));
  return (performance.now() - started) / (clients * Math.ceil(count / clients));
}

export function closeConnections(): void {
  agent.destroy();
}

const closedClients = 4;
const closedRequests = 120;

/** Requests per second when each of four clients asks again as soon as it was answered. */
export async function capacity(port: number, path?: string): Promise<number> {
  return 1000 / (await closedLoop(closedClients, closedRequests, () => post(port, path)));
}

/**
 * Sends requests at a rate of their own, whatever the service does. Gaps are exponential, from a seeded generator.
 * @param send is called when a request is due, with how late that is, ms
 */
export async function openLoop<Answer>(
  { requests, perSecond }: { readonly requests: number; readonly perSecond: number },
  send: (lateMs: number) => Promise<Answer>,
): Promise<Answer[]> {
  let state = 1;
  let at = performance.now();
  const answers: Promise<Answer>[] = [];
  for (let index = 0; index < requests; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    at -= (1000 / perSecond) * Math.log((state + 1) / 2 ** 32);
    await sleep(Math.max(0, at - performance.now()));
    answers.push(send(performance.now() - at));
  }
  return Promise.all(answers);
}
