/** A mix of recordings, probes and pages; one request in ten is malformed or hostile. */
import { spawnSync } from 'node:child_process';
import type { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { speechFile } from '../../../benchmarks/speech.ts';
import { contentType, multipart, toneFile } from '../../../benchmarks/upload-body.ts';
import { mutate } from '../corpus/mutate.ts';
import type { Prng } from './prng.ts';
import { analysis, exchange, type Outcome } from './requests.ts';

type Target = { readonly port: number; readonly token: string };

/** Sends one request. @returns null for an expected outcome, else a description */
type Send = () => Promise<string | null>;

type Mix = {
  /** A random request. */
  draw(): Send;
};

const encodings: Readonly<Record<string, readonly string[]>> = {
  mp3: ['-f', 'mp3'],
  flac: ['-f', 'flac'],
  ogg: ['-f', 'ogg', '-c:a', 'libvorbis'],
  webm: ['-f', 'webm', '-c:a', 'libopus'],
  aac: ['-f', 'adts', '-c:a', 'aac'],
};

/** By ffmpeg, which the tests need as well. */
function encode(wav: Buffer, options: readonly string[]): Buffer {
  const args = ['-v', 'error', '-i', 'pipe:0', ...options, 'pipe:1'];
  const { status, stdout, stderr } = spawnSync('ffmpeg', args, { input: wav, maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`ffmpeg ended with ${status}: ${String(stderr)}`);
  return stdout;
}

function recordings(): readonly Buffer[] {
  const wav = speechFile(1, 1);
  const encoded = Object.values(encodings).map((options) => encode(wav, options));
  return [wav, speechFile(2, 2), wav, toneFile(1), ...encoded];
}

const form = (bytes: Uint8Array) => multipart([{ name: 'audio', bytes }]);
const paths = ['/v1/analyze', '/v1/analyze/emotion', '/v1/analyze/cognitive'] as const;
const pages = ['/health', '/ready', '/metrics', '/v1/models', '/openapi.json', '/', '/nothing'] as const;

function expecting(what: string, statuses: readonly number[], outcome: Outcome): string | null {
  if (outcome.error === null && statuses.includes(outcome.status)) return null;
  return `${what}: ${outcome.error ?? outcome.status}`;
}

export function createMix(target: Target, agent: Agent, prng: Prng): Mix {
  const sounds = recordings();
  const { pick } = prng;
  const upload = async (what: string, body: Buffer, statuses: readonly number[], token = target.token) => {
    const ask = analysis({ ...target, token }, body, { agent, path: pick(paths) });
    return expecting(what, statuses, await exchange(ask));
  };
  const damage = (whole: Buffer) => mutate(whole, prng, sounds);
  const hostile: readonly Send[] = [
    () => upload('a damaged recording', form(damage(pick(sounds))), [200, 422]),
    () => upload('a damaged form', damage(form(pick(sounds))), [200, 422]),
    () => upload('a wrong token', form(pick(sounds)), [401], 'a-token-that-nobody-has'),
    () => upload('no recording', multipart([{ name: 'file', bytes: 'x' }]), [422]),
    () => upload('an empty recording', form(Buffer.alloc(0)), [422]),
    () => abort(target, form(pick(sounds)), prng).then(() => null),
  ];
  const recording: Send = () => upload('a recording', form(pick(sounds)), [200]);
  const page: Send = async () => {
    const path = pick(pages);
    const outcome = await exchange({ port: target.port, path, agent });
    return expecting(path, [path === '/nothing' ? 404 : 200], outcome);
  };
  return {
    draw: () => {
      const share = prng.next();
      if (share < 0.1) return pick(hostile);
      return share < 0.2 ? page : recording;
    },
  };
}

// One client that disconnects at a random moment before it has its response.

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
