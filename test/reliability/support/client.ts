/** Requests to the service: uploads over a pool of connections, and bytes over a socket. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { contentType, multipart, type PartSpec } from '../../../benchmarks/upload-body.ts';
import { call, wire } from '../../support/http.ts';

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
