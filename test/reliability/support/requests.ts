/** One request of a load test; connection errors are outcomes. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { speechFile } from '../../../benchmarks/speech.ts';
import { contentType, multipart, type PartSpec } from '../../../benchmarks/upload-body.ts';
import { call, wire } from '../../support/http.ts';
import type { Server } from './service.ts';

type Ask = {
  readonly port: number;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** False: a new connection. */
  readonly agent?: Agent | false;
  /** Waits for 100 Continue before the body. */
  readonly polite?: boolean;
  /** Closes the connection. */
  readonly signal?: AbortSignal;
};

export type Outcome = {
  /** 0 when no answer began. */
  readonly status: number;
  /** Connection error before or during the response. */
  readonly error: string | null;
  readonly retryAfter: boolean;
  /** Whether 100 Continue arrived; null when the request did not wait. */
  readonly asked: boolean | null;
  /** On the clock of performance.now(). */
  readonly startedAt: number;
  /** To the last byte of the answer. */
  readonly ms: number;
};

export function exchange(ask: Ask): Promise<Outcome> {
  const { port, method = 'GET', path, headers = {}, body, agent = false, polite = false, signal } = ask;
  const startedAt = performance.now();
  return new Promise((resolve) => {
    let answer: IncomingMessage | null = null;
    let asked = polite ? false : null;
    const settle = (error: string | null) =>
      resolve({
        status: answer?.statusCode ?? 0,
        error,
        retryAfter: answer?.headers['retry-after'] !== undefined,
        asked,
        startedAt,
        ms: performance.now() - startedAt,
      });
    const options = { port, host: '127.0.0.1', method, path, headers, agent, signal };
    const sent = request(options, (response) => {
      answer = response;
      response.on('end', () => settle(null)).on('error', (error) => settle(codeOf(error)));
      response.resume();
      if (polite) sent.end();
    });
    sent.on('error', (error) => settle(codeOf(error)));
    sent.on('continue', () => {
      asked = true;
      sent.end(body);
    });
    if (polite) sent.flushHeaders();
    else sent.end(body);
  });
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.message;
}

/** An upload that the service analyses. */
export function analysis(
  { port, token }: { readonly port: number; readonly token: string },
  body: Uint8Array,
  options: Partial<Ask> = {},
): Ask {
  const headers = {
    'Content-Type': contentType,
    'Content-Length': String(body.length),
    Authorization: `Bearer ${token}`,
    ...(options.polite ? { Expect: '100-continue' } : {}),
    ...options.headers,
  };
  return { port, method: 'POST', path: '/v1/analyze', body, ...options, headers };
}

// Requests to the service: uploads over a pool of connections, and bytes over a socket.

export type Answer = {
  /** 0 without an answer. */
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly ms: number;
};

type Headers = Readonly<Record<string, string>>;

export type Client = {
  /** Rejects when the connection ends without an answer, and after `maxWaitSeconds`. */
  upload(path: string, parts: readonly PartSpec[], headers?: Headers): Promise<Answer>;
  send(method: string, path: string, body: Uint8Array, headers: Headers): Promise<Answer>;
  close(): void;
};

/** Longer than UNDERTONE_DEADLINE_S in these cases. */
const maxWaitSeconds = 300;
const timeout = 1000 * maxWaitSeconds;

export function createClient(port: number, token: string, connections: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send: Client['send'] = async (method, path, body, headers) => {
    const started = performance.now();
    const late = sleep(timeout, null, { ref: false });
    const reply = await Promise.race([call(port, { method, path, body, headers, agent }), late]);
    if (reply === null) throw new Error(`no answer within ${maxWaitSeconds} s`);
    const type = String(reply.headers['content-type'] ?? '');
    return { status: reply.status, type, body: reply.body, ms: performance.now() - started };
  };
  const credentials = { 'Content-Type': contentType, Authorization: `Bearer ${token}` };
  const upload: Client['upload'] = (path, parts, headers = {}) =>
    send('POST', path, multipart(parts), { ...credentials, ...headers });
  return { upload, send, close: () => agent.destroy() };
}

/** Sends bytes as they are and reads the first answer. */
export async function sendRaw(port: number, bytes: Uint8Array | string): Promise<Answer> {
  const started = performance.now();
  const { socket, ended } = await wire(port);
  socket.write(bytes);
  const text = await Promise.race([ended(), sleep(timeout, null, { ref: false })]);
  socket.destroy();
  if (text === null) throw new Error(`no end within ${maxWaitSeconds} s`);
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const header = (pattern: RegExp) => pattern.exec(head)?.[1];
  return {
    status: Number(header(/^HTTP\/1\.1 (\d{3})/) ?? 0),
    type: header(/^content-type: (.*)$/im) ?? '',
    body: body.slice(0, Number(header(/^content-length: (\d+)/im) ?? 0)),
    ms: performance.now() - started,
  };
}

// Uploads of speech.

/** A form with a 16 kHz recording in the part `audio`. */
export function speechUpload(seconds: number): Buffer {
  const bytes = speechFile(seconds, 1);
  return multipart([{ name: 'audio', bytes, type: 'audio/wav', filename: 'x.wav' }]);
}

// Uploads with a request id.

export type WorkerAnswer = {
  /** 0 when the connection broke. */
  readonly status: number;
  /** The error code. */
  readonly code: string | null;
  /** The worker, for ids that request it. */
  readonly worker: string | null;
};

const upload = new Uint8Array(speechUpload(1));

export async function ask(
  { url, token }: Pick<Server, 'url' | 'token'>,
  id: string,
  body: Uint8Array<ArrayBuffer> = upload,
): Promise<WorkerAnswer> {
  try {
    const response = await fetch(`${url}/v1/analyze`, {
      method: 'POST',
      headers: { 'Content-Type': contentType, Authorization: `Bearer ${token}`, 'X-Request-Id': id },
      body,
    });
    const answer = (await response.json()) as { code?: string; worker?: string };
    return { status: response.status, code: answer.code ?? null, worker: answer.worker ?? null };
  } catch {
    return { status: 0, code: null, worker: null };
  }
}

export async function askMany(server: Server, id: string, count: number): Promise<WorkerAnswer[]> {
  return Promise.all(Array.from({ length: count }, () => ask(server, id)));
}

// GET /health at an interval, each on a new connection.

const maxWaitMs = 60_000;

export type Health = { readonly requests: number; readonly failed: number; readonly maxMs: number };

/** `stop` resolves once every request has ended. */
export function startHealthProbe(port: number, intervalMs = 100): { stop(): Promise<Health> } {
  const pending: Promise<{ readonly status: number; readonly ms: number }>[] = [];
  const none = { status: 0, ms: Number.POSITIVE_INFINITY };
  const probe = () =>
    pending.push(Promise.race([exchange({ port, path: '/health' }), sleep(maxWaitMs, none, { ref: false })]));
  probe();
  const timer = setInterval(probe, intervalMs);
  return {
    stop: async () => {
      clearInterval(timer);
      const answers = await Promise.all(pending);
      const failed = answers.filter(({ status }) => status !== 200).length;
      return { requests: answers.length, failed, maxMs: Math.max(...answers.map(({ ms }) => ms)) };
    },
  };
}
