/** One account floods all its sessions with frames, then ends: how long the main thread works, and how long dead sessions stay. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { descriptorsOf, mainThreadMs } from '../../../benchmarks/process.ts';
import { atMost, type Options, type Row, within } from '../case.ts';
import { exchange } from '../support/exchange.ts';
import { eventually, heldResources } from '../support/footprint.ts';
import { isUp, type Server } from '../support/service.ts';
import { frame, handshake, opcodes } from './frames.ts';

type Flood = { readonly name: string; readonly one: Buffer; readonly config: object };

const mono = { encoding: 's16le', sample_rate_hz: 16_000, channels: 1 };
const floods: readonly Flood[] = [
  { name: 'empty pings', one: frame(opcodes.ping, ''), config: mono },
  { name: 'empty pongs', one: frame(opcodes.pong, ''), config: mono },
  { name: 'frames of 1 byte', one: frame(opcodes.binary, 'x'), config: mono },
  {
    name: 'frames of 128 bytes',
    one: frame(opcodes.binary, Buffer.alloc(128)),
    config: { encoding: 'f32le', sample_rate_hz: 48_000, channels: 2 },
  },
];

const sessions = 64;
const floodBytes = 2 ** 20;
const floodMs = 3000;
const pauseMs = 2;
/** Of this process to /health and /metrics, which HTTP keeps open. */
const ownConnections = 2;
const maxClosedSeconds = 5;
/** As for costly bodies: long, while one /health waits; short, in all. */
const limits = { long: 50, short: 1500 };

async function openSession({ port, token }: Server, config: object): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.write(handshake(token));
  await once(socket, 'data');
  socket.resume();
  socket.write(frame(opcodes.text, JSON.stringify({ type: 'session.configure', ...config })));
  return socket;
}

/** The most processor time of the main thread from one answer of /health to the next, and in all. */
async function workOf(server: Server, untilMs: number): Promise<{ mostMs: number; totalMs: number }> {
  const pid = server.process.pid as number;
  const start = mainThreadMs(pid);
  const end = performance.now() + untilMs;
  let mostMs = 0;
  while (performance.now() < end) {
    const before = mainThreadMs(pid);
    await exchange({ port: server.port, path: '/health' });
    mostMs = Math.max(mostMs, mainThreadMs(pid) - before);
    await sleep(pauseMs);
  }
  return { mostMs, totalMs: mainThreadMs(pid) - start };
}

async function rowsOf(server: Server, { name, one, config }: Flood, options: Options): Promise<Row[]> {
  const pid = server.process.pid as number;
  const descriptors = descriptorsOf(pid);
  const sockets: Socket[] = [];
  for (let count = 0; count < sessions; count++) sockets.push(await openSession(server, config));
  const bytes = Buffer.alloc(one.length * Math.floor(floodBytes / one.length), one);
  for (const socket of sockets) socket.write(bytes);
  const { mostMs, totalMs } = await workOf(server, floodMs);
  for (const socket of sockets) socket.destroy();
  const ended = performance.now();
  const isFree = async () =>
    (await heldResources(server.port)) === 0 && descriptorsOf(pid) <= descriptors + ownConnections;
  const closed = isUp(server) && (await eventually(isFree));
  const flood = `${sessions} sessions of ${name}`;
  const note = `${mostMs.toFixed(0)} ms while one /health waited, ${totalMs.toFixed(0)} ms in ${floodMs / 1000} s`;
  return [
    options.long
      ? atMost(limits.long, `${flood}: /health delayed by`, 'ms', mostMs, note)
      : atMost(limits.short, `${flood}: work`, 'ms', totalMs, note),
    within(
      maxClosedSeconds,
      options,
      `${flood}: the last is closed after its client's end`,
      's',
      closed ? (performance.now() - ended) / 1000 : null,
    ),
  ];
}

/** @param count of kinds of floods, all by default */
export async function floodRows(server: Server, options: Options, count?: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const flood of floods.slice(0, count)) rows.push(...(await rowsOf(server, flood, options)));
  return rows;
}
