/** A client of live sessions. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type ClientOptions, WebSocket } from 'ws';
import { contentType, multipart } from '../../benchmarks/upload-body.ts';
import { fixture } from '../../scripts/recordings.ts';
import { serverMessages } from '../../src/service/live/protocol.ts';
import { call, type Reply } from './http.ts';
import { until } from './wait.ts';

export type Message = { readonly type: string; readonly seq: number } & Readonly<Record<string, unknown>>;

export type StreamClient = {
  readonly socket: WebSocket;
  /** Every message so far, as text. */
  readonly texts: readonly string[];
  messages(type?: string): Message[];
  send(message: object): void;
  /** Resolves with the first message of the type. */
  first(type: string): Promise<Message>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
};

/** @throws ZodError for a message that is not as documented */
export function parseMessage(text: string): Message {
  const message = JSON.parse(text) as Message;
  return serverMessages[message.type as keyof typeof serverMessages].parse(message) as Message;
}

type Options = {
  readonly token?: string;
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly client?: ClientOptions;
};

function open(
  port: number,
  { token, protocols = ['undertone.v1'], headers = {}, client }: Options,
): WebSocket {
  const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return new WebSocket(`ws://127.0.0.1:${port}/v1/stream`, [...protocols], {
    ...client,
    headers: { ...authorization, ...headers },
  });
}

/** Resolves once the session is open. */
export async function connectStream(port: number, options: Options): Promise<StreamClient> {
  const socket = open(port, options);
  const texts: string[] = [];
  socket.on('message', (data) => texts.push(String(data)));
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await once(socket, 'open');
  socket.on('error', () => {});
  const messages = (type?: string) => {
    const all = texts.map(parseMessage);
    return type === undefined ? all : all.filter((message) => message.type === type);
  };
  return {
    socket,
    texts,
    messages,
    closed,
    send: (message) => socket.send(JSON.stringify(message)),
    first: async (type) => {
      await until(async () => messages(type).length > 0);
      return messages(type)[0] as Message;
    },
  };
}

export type Refusal = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

/** The HTTP response in place of a session. */
export async function refusedStream(port: number, options: Options): Promise<Refusal> {
  const socket = open(port, options);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    socket.once('unexpected-response', (_request, answer) => resolve(answer));
    socket.once('open', () => reject(new Error('Expected a refusal, got a session')));
    socket.once('error', reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

/** POST /v1/stream/tokens. */
export async function issueStreamToken(port: number, token: string, body: object = {}) {
  const reply = await call(port, {
    method: 'POST',
    path: '/v1/stream/tokens',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: reply.status, headers: reply.headers, ...JSON.parse(reply.body) };
}

// Samples to stream, and the WAV file that an upload of them is.

/** The samples of a WAV file with one `data` chunk at its end. */
export function dataOf(wav: Uint8Array): Buffer {
  const file = Buffer.from(wav);
  const at = file.indexOf('data', 36, 'latin1');
  return file.subarray(at + 8, at + 8 + file.readUInt32LE(at + 4));
}

/** 16-bit samples of speech at 16 kHz. */
export function speechSamples(seconds: number): Buffer {
  return dataOf(fixture('mono-16k.wav')).subarray(0, 32_000 * seconds);
}

/** The analysis of an upload. */
export function analyzeFile(
  port: number,
  token: string,
  wav: Uint8Array,
  requestId: string,
  texts: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const parts = Object.entries(texts).map(([name, bytes]) => ({ name, bytes }));
  return call(port, {
    method: 'POST',
    path: '/v1/analyze',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': contentType, 'X-Request-Id': requestId },
    body: multipart([...parts, { name: 'audio', bytes: wav, type: 'audio/wav' }]),
  });
}
