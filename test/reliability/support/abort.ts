/** One client that disconnects at a random moment before it has its response. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { contentType } from '../../../benchmarks/upload-body.ts';
import type { Prng } from './prng.ts';

export const moments = [
  'before a byte',
  'in the head',
  'in the body',
  'while it is analysed',
  'in the answer',
] as const;
export type Moment = (typeof moments)[number];

const maxAnalysisMs = 40;
const answerWithinMs = 5000;

/** Head and body of a request, the body with its length or as one chunk. */
function requestParts(token: string, body: Buffer, chunked: boolean): { head: Buffer; body: Buffer } {
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  const lines = ['POST /v1/analyze HTTP/1.1', 'Host: x', `Authorization: Bearer ${token}`, length];
  const head = Buffer.from([...lines, `Content-Type: ${contentType}`, '', ''].join('\r\n'));
  if (!chunked) return { head, body };
  const size = `${body.length.toString(16)}\r\n`;
  return { head, body: Buffer.concat([Buffer.from(size), body, Buffer.from('\r\n0\r\n\r\n')]) };
}

/** By a reset, an immediate close, or a half-close first. */
async function disconnect(socket: Socket, prng: Prng): Promise<void> {
  const way = prng.below(3);
  if (way === 0) socket.resetAndDestroy();
  if (way === 1) {
    socket.end();
    await sleep(prng.below(5));
  }
  socket.destroy();
}

/** Resolves at the first byte of the response, or when there is none. */
function firstByte(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, answerWithinMs);
    const arrived = () => {
      clearTimeout(timer);
      resolve(null);
    };
    socket.once('data', arrived).once('close', arrived);
  });
}

export async function abort(
  { port, token }: { readonly port: number; readonly token: string },
  upload: Buffer,
  prng: Prng,
): Promise<Moment> {
  const moment = moments[prng.below(moments.length)] as Moment;
  const { head, body } = requestParts(token, upload, prng.below(4) === 0);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
  if (moment === 'in the head') socket.write(head.subarray(0, 1 + prng.below(head.length - 1)));
  if (moment === 'in the body') {
    socket.write(head);
    socket.write(body.subarray(0, prng.below(body.length)));
  }
  if (moment === 'while it is analysed' || moment === 'in the answer') {
    const answered = firstByte(socket);
    socket.write(Buffer.concat([head, body]));
    await (moment === 'in the answer' ? answered : sleep(prng.below(maxAnalysisMs)));
  } else await sleep(prng.below(3));
  await disconnect(socket, prng);
  return moment;
}
