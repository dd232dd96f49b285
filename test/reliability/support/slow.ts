/** Clients that send headers or bodies, or read responses, very slowly. */
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { contentType } from '../../../benchmarks/upload-body.ts';

export const slowKinds = [
  'silent',
  'headers',
  'body',
  'chunked body',
  'body without a token',
  'reading',
] as const;
export type SlowKind = (typeof slowKinds)[number];

export type SlowClient = {
  readonly kind: SlowKind;
  readonly startedAt: number;
  /** When the service closed the connection; null while it has not. */
  closedAt: number | null;
  readonly socket: Socket;
};

export type SlowClients = {
  readonly all: readonly SlowClient[];
  stop(): void;
};

const trickleMs = 500;

/** The sample of the pages four times, 1.3 MB each: more than the socket buffers hold. */
function bigAnswers(): string {
  const sample = readdirSync('dist/web/assets').find((name) => name.endsWith('.wav'));
  return `GET /assets/${sample} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(4);
}

type Behaviour = { readonly first: string; readonly trickle: string };

function behaviours(token: string): Record<SlowKind, Behaviour> {
  const head = (...lines: string[]) =>
    ['POST /v1/analyze HTTP/1.1', 'Host: x', `Content-Type: ${contentType}`, ...lines, '', ''].join('\r\n');
  const grant = `Authorization: Bearer ${token}`;
  return {
    silent: { first: '', trickle: '' },
    headers: { first: 'POST /v1/analyze HTTP/1.1\r\nHost: x\r\n', trickle: 'X-Slow: y\r\n' },
    body: { first: head(grant, 'Content-Length: 300000'), trickle: 'x' },
    'chunked body': { first: head(grant, 'Transfer-Encoding: chunked'), trickle: '1\r\nx\r\n' },
    'body without a token': { first: head('Content-Length: 300000'), trickle: 'x' },
    reading: { first: bigAnswers(), trickle: '' },
  };
}

function open(port: number, kind: SlowKind, { first }: Behaviour): SlowClient {
  const socket = connect({ port, host: '127.0.0.1' });
  const client: SlowClient = { kind, startedAt: performance.now(), closedAt: null, socket };
  const closed = () => {
    client.closedAt ??= performance.now();
  };
  socket.on('end', closed).on('close', closed).on('error', closed);
  if (kind === 'reading') socket.on('readable', () => undefined);
  else socket.resume();
  if (first !== '') socket.write(first);
  return client;
}

/** Equal numbers of each kind; each continues slowly until it is stopped. */
export async function startSlowClients(
  { port, token }: { readonly port: number; readonly token: string },
  count: number,
  overMs: number,
): Promise<SlowClients> {
  const kinds = behaviours(token);
  const all: SlowClient[] = [];
  const trickle = setInterval(() => {
    for (const { kind, socket } of all) {
      if (kind === 'reading') socket.read(1);
      else if (socket.writable && !socket.connecting) socket.write(kinds[kind].trickle);
    }
  }, trickleMs);
  for (let index = 0; index < count; index++) {
    const kind = slowKinds[index % slowKinds.length] as SlowKind;
    all.push(open(port, kind, kinds[kind]));
    if (index % 10 === 9) await sleep((10 * overMs) / count);
  }
  const stop = () => {
    clearInterval(trickle);
    for (const { socket } of all) socket.destroy();
  };
  return { all, stop };
}
