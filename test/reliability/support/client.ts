/** Requests to the service: uploads over a pool of connections, and bytes over a socket. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { contentType, multipart, type PartSpec } from '../../../benchmarks/upload-body.ts';
import { wire } from '../../support/http.ts';

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
export const maxWaitSeconds = 300;
const timeout = 1000 * maxWaitSeconds;

export function createClient(port: number, token: string, connections: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send: Client['send'] = (method, path, body, headers) =>
    new Promise((resolve, reject) => {
      const started = performance.now();
      const sent = request({ agent, port, host: '127.0.0.1', method, path, headers, timeout }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const type = response.headers['content-type'] ?? '';
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, type, body: text, ms: performance.now() - started });
        });
      });
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${maxWaitSeconds} s`)));
      sent.on('error', reject);
      sent.end(body);
    });
  const credentials = { 'Content-Type': contentType, Authorization: `Bearer ${token}` };
  const upload: Client['upload'] = (path, parts, headers = {}) =>
    send('POST', path, multipart(parts), { ...credentials, ...headers });
  return { upload, send, close: () => agent.destroy() };
}

/** Sends bytes as they are and reads the first answer. `end`: closes the client's direction behind them. */
export async function sendRaw(port: number, bytes: Uint8Array | string, end = false): Promise<Answer> {
  const started = performance.now();
  const { socket, ended } = await wire(port);
  if (end) socket.end(bytes);
  else socket.write(bytes);
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
