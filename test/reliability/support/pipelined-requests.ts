/** Clients without a token that pipeline requests of every public path and read nothing, and idle connections. */
import { readdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { forgetPeak, mainThreadMs, peakMebibytes, residentMebibytes } from '../../../benchmarks/process.ts';
import { atMost, type Row } from '../case.ts';
import { exchange } from './requests.ts';
import { preload, type Server, withServer } from './service.ts';

export type PipeliningGoals = {
  readonly healthMs: number;
  readonly mebibytes: number;
  /** Of one attack. */
  readonly attackMs: number;
  readonly idleConnections: number;
  /** Of all public paths. */
  readonly every: boolean;
};

type PipelinedRequests = { readonly connections: number; readonly requests: number };

const fewConnections: PipelinedRequests = { connections: 10, requests: 1300 };
const attacks: readonly PipelinedRequests[] = [fewConnections, { connections: 400, requests: 40 }];
const controlPath = '/docs';
const openAtOnce = 100;
const probePauseMs = 5;
/** A delay that the service causes occurs in every round; one of a busy machine does not. */
const rounds = 3;
const quiet = { UNDERTONE_LOG_LEVEL: 'error' };

/** Paths that need no token, and refusals of those that do. The short form takes the longest answers. */
function publicPaths(every: boolean): readonly string[] {
  const assets = readdirSync('dist/web/assets').map((name) => `/assets/${name}`);
  const longest = ['/docs', '/openapi.json', ...assets.filter((path) => path.endsWith('.wav')), '/nothing'];
  if (!every) return longest;
  const pages = ['/', '/account', '/trust', '/docs/http-api.md', '/llms.txt', '/asyncapi.json'];
  const api = ['/v1/models', '/.well-known/undertone-keys.json', '/health', '/ready'];
  const refused = ['/v1/usage', '/v1/stream', '/v1/jobs', '/account/api/session'];
  return [...new Set([...longest, ...assets, ...pages, ...api, ...refused])];
}

/** Opens connections that read nothing yet. */
async function open(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const group = Array.from({ length: Math.min(openAtOnce, count - sockets.length) }, () =>
      connect({ port, host: '127.0.0.1' }).on('error', () => {}),
    );
    sockets.push(...group);
    const opened = (socket: Socket) =>
      new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    await Promise.all(group.map(opened));
  }
  return sockets;
}

type Effect = {
  /** The most processor time of the main thread while one /health waits: on a quiet machine, how long it waits. */
  readonly healthMs: number;
  readonly failed: number;
  /** The most resident memory above that before. */
  readonly mebibytes: number;
};

type Attack = {
  readonly connections: number;
  /** Sent on each connection. */
  readonly bytes: string;
  readonly attackMs: number;
  /** Whether the clients read. */
  readonly reads?: boolean;
};

async function effectOf(
  { port, process }: Server,
  idleMebibytes: number,
  { connections, bytes, attackMs, reads = false }: Attack,
): Promise<Effect> {
  const pid = process.pid as number;
  forgetPeak(pid);
  const sockets = await open(port, connections);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await exchange({ port, path: '/health', agent });
  for (const socket of sockets) {
    if (bytes !== '') socket.write(bytes);
    if (reads) socket.resume();
  }
  let [healthMs, failed] = [0, 0];
  for (const end = performance.now() + attackMs; performance.now() < end; await sleep(probePauseMs)) {
    const before = mainThreadMs(pid);
    const { status } = await exchange({ port, path: '/health', agent });
    healthMs = Math.max(healthMs, mainThreadMs(pid) - before);
    if (status !== 200) failed++;
  }
  agent.destroy();
  for (const socket of sockets) socket.destroy();
  return { healthMs, failed, mebibytes: peakMebibytes(pid) - idleMebibytes };
}

/** Repeats an attack that misses a goal. */
export async function leastEffect(
  server: Server,
  idleMebibytes: number,
  goals: PipeliningGoals,
  attack: Attack,
): Promise<Effect> {
  let least = await effectOf(server, idleMebibytes, attack);
  for (let round = 1; round < rounds && (least.healthMs > goals.healthMs || least.failed > 0); round++) {
    const next = await effectOf(server, idleMebibytes, attack);
    if (next.failed <= least.failed && next.healthMs < least.healthMs) least = next;
  }
  return least;
}

type Measured = Effect & { readonly path: string };

export function effectRows(
  name: string,
  { healthMs, mebibytes }: PipeliningGoals,
  effects: readonly Measured[],
): Row[] {
  const most = (key: 'healthMs' | 'mebibytes') =>
    effects.reduce((worst, effect) => (effect[key] > worst[key] ? effect : worst));
  const failed = effects.filter((effect) => effect.failed > 0);
  const slowest = failed[0] ?? most('healthMs');
  const largest = most('mebibytes');
  return [
    atMost(
      healthMs,
      `${name}: /health waits`,
      'ms',
      failed.length > 0 ? null : slowest.healthMs,
      slowest.path,
    ),
    atMost(mebibytes, `${name}: memory over idle`, 'MiB', largest.mebibytes, largest.path),
  ];
}

async function pipeliningRows(
  server: Server,
  goals: PipeliningGoals,
  all: readonly PipelinedRequests[],
  paths: readonly string[],
): Promise<Row[]> {
  const { port } = server;
  for (const path of paths) await exchange({ port, path });
  const idle = residentMebibytes(server.process.pid as number);
  const rows: Row[] = [];
  for (const { connections, requests } of all) {
    const effects: Measured[] = [];
    for (const path of paths) {
      const bytes = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`.repeat(requests);
      const attack = { connections, bytes, attackMs: goals.attackMs };
      effects.push({ path, ...(await leastEffect(server, idle, goals, attack)) });
    }
    rows.push(...effectRows(`${connections} connections of ${requests} unread requests`, goals, effects));
  }
  return rows;
}

async function idleRows(server: Server, goals: PipeliningGoals): Promise<Row[]> {
  const { idleConnections: connections, attackMs } = goals;
  await exchange({ port: server.port, path: '/health' });
  const idle = residentMebibytes(server.process.pid as number);
  const effect = await effectOf(server, idle, { connections, bytes: '', attackMs });
  return effectRows(`${connections} idle connections`, goals, [{ path: '', ...effect }]);
}

export function unreadRequestRows(goals: PipeliningGoals): Promise<Row[]> {
  return withServer(quiet, async (server) => [
    ...(await idleRows(server, goals)),
    ...(await pipeliningRows(server, goals, attacks, publicPaths(goals.every))),
  ]);
}

/** The service with the HTTP parser of Node.js, which handles all requests of a read at once. */
export function controlRows(goals: PipeliningGoals): Promise<Row[]> {
  return withServer({ ...quiet, ...preload('parallel-requests') }, (server) =>
    pipeliningRows(server, goals, [fewConnections], [controlPath]),
  );
}
