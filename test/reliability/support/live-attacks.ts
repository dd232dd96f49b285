/** Clients of live sessions that vanish, send garbage or floods, or are silent. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { descriptorsOf, mainThreadMs } from '../../../benchmarks/process.ts';
import { closeCodes } from '../../../src/service/live/protocol.ts';
import { connectStream, speechSamples } from '../../support/stream-client.ts';
import { atMost, type Options, type Row, within } from '../case.ts';
import { eventually, heldResources } from './footprint.ts';
import type { Prng } from './prng.ts';
import { exchange } from './requests.ts';
import { isUp, type Server } from './service.ts';

// Bytes of WebSocket handshakes and frames (RFC 6455), of invalid ones too.

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export function handshake(token: string): Buffer {
  const lines = ['GET /v1/stream HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket'];
  const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
  const protocol = ['Sec-WebSocket-Protocol: undertone.v1', `Authorization: Bearer ${token}`];
  return Buffer.from([...lines, ...key, ...protocol, '', ''].join('\r\n'));
}

type FrameOptions = { readonly first?: number; readonly masked?: boolean; readonly final?: boolean };

/** @param first the first byte, in place of the opcode with the final bit */
export function frame(
  opcode: number,
  payload: Uint8Array | string,
  { final = true, masked = true, first = (final ? 0x80 : 0) | opcode }: FrameOptions = {},
): Buffer {
  const bytes = Buffer.from(payload);
  const mask = masked ? 0x80 : 0;
  const head = Buffer.alloc(bytes.length < 126 ? 2 : bytes.length < 2 ** 16 ? 4 : 10);
  head[0] = first;
  if (head.length === 2) head[1] = mask | bytes.length;
  else if (head.length === 4) {
    head[1] = mask | 126;
    head.writeUInt16BE(bytes.length, 2);
  } else {
    head[1] = mask | 127;
    head.writeBigUInt64BE(BigInt(bytes.length), 2);
  }
  // A mask of zeros changes no byte.
  return Buffer.concat([head, Buffer.alloc(masked ? 4 : 0), bytes]);
}

// Clients that vanish, send garbage or floods, or are silent.

export type Attack = (server: Server, prng: Prng) => Promise<void>;

const { binary, close, continuation, ping, text } = opcodes;
const configure = { type: 'session.configure', encoding: 's16le', sample_rate_hz: 16_000, channels: 1 };
const configured = frame(text, JSON.stringify({ ...configure, interval_s: 1 }));
const ended = frame(text, '{"type":"session.end"}');
const speech = speechSamples(2);
const maxWaitMs = 60_000;

const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

async function openSocket({ port }: Server): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), closed(socket)]);
  return socket;
}

/** Resolves with the response to the handshake. */
async function openRaw(server: Server): Promise<Socket> {
  const socket = await openSocket(server);
  socket.write(handshake(server.token));
  await Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed(socket)]);
  return socket;
}

/** Sends an end and waits for that of the service. */
async function finish(socket: Socket): Promise<void> {
  if (!socket.destroyed) {
    socket.end();
    await Promise.race([closed(socket), sleep(maxWaitMs, null, { ref: false })]);
  }
  socket.destroy();
}

const audio = ({ below }: Prng) => frame(binary, speech.subarray(0, 2 * below(speech.length / 2)));

/** At a random moment, from within the handshake to within the report. */
export const vanish: Attack = async (server, prng) => {
  const request = handshake(server.token);
  const script = [request, configured, audio(prng), audio(prng), ended];
  const bytes = Buffer.concat(script.slice(0, 1 + prng.below(script.length)));
  const socket = await openSocket(server);
  socket.resume();
  socket.write(prng.oneIn(3) ? bytes.subarray(0, prng.below(bytes.length)) : bytes);
  await sleep(prng.pick([0, 0, 5, 50, 200]));
  if (prng.oneIn(2)) socket.resetAndDestroy();
  else socket.destroy();
};

const garbages: readonly ((prng: Prng) => Buffer)[] = [
  (prng) => prng.bytes(1 + prng.below(2000)),
  (prng) => frame(binary, prng.bytes(200), { masked: false }),
  (prng) => frame(3 + prng.below(5), prng.bytes(20)),
  (prng) => frame(binary, prng.bytes(20), { first: 0x82 | (16 << prng.below(3)) }),
  () => frame(text, Buffer.from([0xc3, 0x28])),
  (prng) => frame(text, prng.bytes(50).toString('latin1')),
  () => frame(text, '['.repeat(100_000)),
  () => frame(text, JSON.stringify({ ...configure, channels: 9e99, extra: [null] })),
  () => frame(continuation, 'x'),
  () => frame(ping, Buffer.alloc(200)),
  () => frame(close, Buffer.from([0])),
  () => frame(binary, Buffer.alloc(2 ** 20 + 2)),
  (prng) => Buffer.concat([frame(binary, prng.bytes(999), { final: false }), frame(text, 'x')]),
  // A length of 2^62 bytes.
  () => Buffer.from([0x82, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0]),
];

/** Half of it after valid audio. */
export const garbage: Attack = async (server, prng) => {
  const socket = await openRaw(server);
  socket.resume();
  if (prng.oneIn(2)) socket.write(Buffer.concat([configured, audio(prng)]));
  socket.write(prng.pick(garbages)(prng));
  await finish(socket);
};

const repeated = (one: Buffer, count: number) => Buffer.alloc(one.length * count, one);

const floods: readonly (() => Buffer)[] = [
  () => repeated(frame(binary, 'x'), 20_000),
  () => repeated(frame(binary, ''), 20_000),
  () => repeated(frame(text, '{"type":"keep_alive"}'), 5000),
  () => repeated(frame(ping, Buffer.alloc(125)), 10_000),
  () => repeated(frame(continuation, 'x', { final: false }), 20_000),
  () => repeated(frame(binary, Buffer.alloc(2 ** 19)), 4),
  () => repeated(frame(text, '{"type":"turn.end"}'), 200),
];

/** Half of the clients read nothing. */
export const flood: Attack = async (server, prng) => {
  const socket = await openRaw(server);
  const one = prng.pick(floods)();
  const isFragmented = ((one[0] as number) & 0x8f) === 0;
  const start = isFragmented ? frame(binary, 'x', { final: false }) : Buffer.alloc(0);
  if (prng.oneIn(2)) socket.resume();
  socket.write(Buffer.concat([configured, start, one]));
  await Promise.race([closed(socket), sleep(prng.pick([20, 100, 400]))]);
  socket.resetAndDestroy();
};

/** Resolves when the service has closed the session. @throws when it did so for another reason */
export const idle: Attack = async ({ port, token }, prng) => {
  const session = await connectStream(port, { token });
  if (prng.oneIn(2)) {
    session.send(configure);
    if (prng.oneIn(2)) session.socket.send(speech.subarray(0, 6400));
  }
  const { code } = await session.closed;
  if (code !== closeCodes.idle)
    throw new Error(`Expected ${closeCodes.idle} for an idle session, got ${code}`);
};

// One account floods all its sessions with frames, then ends: how long the main thread works, and how long dead sessions stay.

type Flood = { readonly name: string; readonly one: Buffer; readonly config: object };

const mono = { encoding: 's16le', sample_rate_hz: 16_000, channels: 1 };
const sessionFloods: readonly Flood[] = [
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
/** Processor time, ms. `long`: while one /health waits. `short`: in all; a share of the flood, since a frame costs more on slower machines. */
const limits = { long: 50, short: 0.75 * floodMs };

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
  for (const flood of sessionFloods.slice(0, count)) rows.push(...(await rowsOf(server, flood, options)));
  return rows;
}
