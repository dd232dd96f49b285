/** Services that one would build: FastAPI with librosa, installed from PyPI and served by uvicorn, and transformers.js. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, runProgram } from '../case.ts';
import { installTransformers, makeVenv } from '../packages.ts';
import { graphFile } from '../request/graph.ts';
import { ask } from '../service.ts';

const servicePackages = [
  'fastapi==0.165.0',
  'python-multipart==0.0.34',
  'uvicorn[standard]==0.54.0',
  'librosa==0.11.0',
  'numpy==2.4.6',
  'onnx==1.23.2',
  'onnxruntime==1.31.1',
];
export const stackPackages = [...servicePackages, 'kaldi-native-fbank==1.22.5'];
const classifierPackages = [...servicePackages, 'soundfile==0.14.0', 'torch==2.13.0', 'transformers==5.24.0'];
const script = join(root, 'benchmarks', 'peers', 'stack.py');
const graph = join(root, graphFile);
const startSeconds = 60;

export type Stack = { readonly port: number; readonly pid: number; stop(): Promise<void> };

const python = () => join(makeVenv('stack', stackPackages), 'python');

/** Python with torch and transformers. */
export const classifierPython = () => join(makeVenv('classifiers', classifierPackages), 'python');

/** Packages from PyPI, and the graph of one node that both sides run. */
export function installStack(): void {
  mkdirSync(dirname(graph), { recursive: true });
  runProgram(python(), [script, 'graph', graph]);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** `processes`: uvicorn's workers. */
export function startStack(processes: number): Promise<Stack> {
  const models = { PEER_MODELS: join(root, 'models/standard'), PEER_GRAPH: graph };
  return startPeer(python(), 'stack:create_app', processes, models);
}

/** uvicorn with an application of this folder. @param interpreter Python with its packages */
export async function startPeer(
  interpreter: string,
  application: string,
  processes: number,
  env: Readonly<Record<string, string>>,
): Promise<Stack> {
  const port = await freePort();
  const app = ['--factory', application, '--app-dir', join(root, 'benchmarks', 'peers')];
  // A process that computes for seconds on a busy machine is neither dead nor idle.
  const patience = ['--timeout-worker-healthcheck', '600', '--timeout-keep-alive', '600'];
  const options = ['--port', String(port), '--workers', String(processes), '--log-level', 'warning'];
  const threads = { OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', PYTHONDONTWRITEBYTECODE: '1' };
  const child = spawn(interpreter, ['-m', 'uvicorn', ...app, ...options, ...patience], {
    env: { ...process.env, ...threads, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill();
    await ended;
  };
  await listening(port, () => child.exitCode !== null);
  return { port, pid: child.pid as number, stop };
}

/** node:http with the feature extractor of transformers.js. */
export async function startTransformers(processes: number): Promise<Stack> {
  const port = await freePort();
  const program = join(root, 'benchmarks', 'peers', 'transformers.mjs');
  const args = [String(port), installTransformers(), join(root, 'models/standard'), String(processes)];
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill();
    await ended;
  };
  await listening(port, () => child.exitCode !== null);
  return { port, pid: child.pid as number, stop };
}

async function listening(port: number, ended: () => boolean): Promise<void> {
  for (const until = performance.now() + 1000 * startSeconds; performance.now() < until && !ended(); ) {
    const answered = await ask(port, '/usage').catch(() => null);
    if (answered !== null) return;
    await sleep(200);
  }
  throw new Error(`Expected a peer to listen on port ${port}, got none`);
}

/** Processor time of a stack of one process so far, in milliseconds. */
export async function stackMilliseconds({ port }: Stack): Promise<number> {
  const { body } = await ask(port, '/usage');
  return (JSON.parse(body.toString()) as { microseconds: number }).microseconds / 1000;
}
