/** What a request costs beside its analysis: 10 s of 16 kHz mono PCM, one client, one connection. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAnalyzer } from '../../src/analyze.ts';
import { parseConfig } from '../../src/config.ts';
import { syntheticSignal } from '../../src/models/golden.ts';
import { contentType, multipart } from '../../test/support/upload.ts';
import { wavFile } from '../../test/support/wav.ts';
import { atMost, type Figure, figure, type Row, root } from '../case.ts';
import type { Usage } from '../request/server.ts';

const long = process.argv.includes('--long');
const rounds = long ? 15 : 7;
const requestsPerRound = long ? 1000 : 300;
const analyses = long ? 300 : 60;
const warmUps = 20;
const mainThreadMicroseconds = 200;
const token = 'static-token-of-the-benchmark';
const here = fileURLToPath(import.meta.url);
const recording = wavFile(syntheticSignal(1, 10));
const body = multipart([{ name: 'audio', bytes: recording, type: 'audio/wav', filename: 'x.wav' }]);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** @returns milliseconds from the first byte sent to the last one received */
function post(port: number, path: string): Promise<number> {
  const headers = {
    'Content-Type': contentType,
    'Content-Length': body.length,
    Authorization: `Bearer ${token}`,
  };
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const sent = request({ port, host: '127.0.0.1', method: 'POST', path, headers, agent }, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - started);
        else reject(new Error(`Expected 200 for \`${path}\`, got ${response.statusCode}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function times(count: number, run: () => Promise<number>): Promise<number[]> {
  for (let index = 0; index < warmUps; index++) await run();
  const milliseconds: number[] = [];
  for (let index = 0; index < count; index++) milliseconds.push(await run());
  return milliseconds;
}

async function ask<T>(child: ChildProcess, question?: string): Promise<T> {
  if (question !== undefined) child.send(question);
  const [answer] = await once(child, 'message');
  return answer as T;
}

type Cost = { readonly process: number[]; readonly mainThread: number[]; readonly milliseconds: number[] };

/** CPU microseconds a request, one figure a round. */
async function costOf(kind: 'raw' | 'app'): Promise<Cost> {
  const file = fileURLToPath(new URL(`../request/server${extname(here)}`, import.meta.url));
  const child = fork(file, [kind], {
    execArgv: ['--import=tsx'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const { port } = await ask<{ port: number }>(child);
  const cost: Cost = { process: [], mainThread: [], milliseconds: [] };
  await times(requestsPerRound, () => post(port, '/v1/analyze/emotion'));
  for (let round = 0; round < rounds; round++) {
    const before = (await ask<{ usage: Usage }>(child, 'usage')).usage;
    for (let index = 0; index < requestsPerRound; index++) {
      cost.milliseconds.push(await post(port, '/v1/analyze/emotion'));
    }
    const after = (await ask<{ usage: Usage }>(child, 'usage')).usage;
    cost.process.push((after.process - before.process) / requestsPerRound);
    cost.mainThread.push((after.mainThread - before.mainThread) / requestsPerRound);
  }
  child.kill();
  return cost;
}

/** Decode, features and models alone, in this process. */
async function stageTimes(): Promise<number[]> {
  const { modelsDir, limits } = parseConfig(process.env);
  const analyzer = await createAnalyzer({ modelsDir, limits });
  const signals = ['emotion', 'cognitive'] as const;
  return times(analyses, async () => {
    const asked = { audio: recording, baseline: null, channel: null, signals, cancel: null };
    const { stages } = await analyzer.analyze(asked);
    return stages.reduce((sum, { ms }) => sum + ms, 0);
  });
}

async function serviceTimes(): Promise<number[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'undertone-bench-'));
  const settings = { UNDERTONE_PORT: '0', UNDERTONE_DATA_DIR: dataDir, UNDERTONE_TOKEN: token };
  const env = { ...process.env, ...settings, UNDERTONE_WORKERS: '1' };
  const stdio = ['ignore', 'pipe', 'ignore'] as const;
  const child = spawn(process.execPath, [join(root, 'dist/src/cli.js'), 'serve'], {
    cwd: root,
    env,
    stdio: [...stdio],
  });
  try {
    const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data');
    const port = Number(/:(\d+)\n/.exec(String(line))?.[1]);
    return await times(analyses, () => post(port, '/v1/analyze'));
  } finally {
    child.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function shifted(values: readonly number[], by: Figure | null): number[] {
  return values.map((value) => value + (by?.median ?? Number.NaN));
}

function underLimit(name: string, ours: Figure | null, limit: number): Row {
  const met = ours !== null && ours.median <= limit;
  const note = 'one core of the process: the thread that speaks HTTP';
  return { name, unit: 'us CPU a request', peer: null, ours, goal: `<= ${limit} us`, ratio: null, met, note };
}

export async function run(): Promise<readonly Row[]> {
  const raw = await costOf('raw');
  const app = await costOf('app');
  const stages = await stageTimes();
  const service = await serviceTimes();
  agent.destroy();
  return [
    atMost(3, {
      name: 'request overhead, 320 kB WAV',
      unit: 'us CPU a request',
      peer: figure(raw.process),
      ours: figure(app.process),
      note: 'peer: node:http that collects the raw body; ours: the service with a thread that scans it',
    }),
    underLimit('main thread, 320 kB WAV', figure(app.mainThread), mainThreadMicroseconds),
    atMost(1.3, {
      name: 'POST /v1/analyze, 10 s WAV, p50',
      unit: 'ms',
      peer: figure(shifted(stages, figure(raw.milliseconds))),
      ours: figure(service),
      note: 'peer: raw-body request + decode + features + models, each measured alone',
    }),
  ];
}
