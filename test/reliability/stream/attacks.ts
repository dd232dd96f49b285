/** Clients that vanish, send garbage or floods, or are silent. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeCodes } from '../../../src/service/live/protocol.ts';
import { speechSamples } from '../../support/stream-audio.ts';
import { connectStream } from '../../support/stream-client.ts';
import type { Prng } from '../support/prng.ts';
import type { Server } from '../support/service.ts';
import { frame, handshake, opcodes } from './frames.ts';

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
