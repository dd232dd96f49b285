/** Uploads over a few connections that are kept alive. */
import { Agent, request } from 'node:http';
import { boundary, contentType, multipart, type PartSpec } from '../../support/upload.ts';

export type Answer = {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly ms: number;
};

export type Client = {
  /** Rejects when the connection ends without an answer, and after `patienceSeconds`. */
  upload(
    path: string,
    parts: readonly PartSpec[],
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  send(
    method: string,
    path: string,
    body: Uint8Array,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  close(): void;
};

export { boundary };

/** Longer than the service's own deadline in these cases: a busy machine is not its fault. */
export const patienceSeconds = 300;

export function createClient(port: number, token: string, connections: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send: Client['send'] = (method, path, body, headers) =>
    new Promise((resolve, reject) => {
      const started = performance.now();
      const options = {
        agent,
        port,
        host: '127.0.0.1',
        method,
        path,
        headers,
        timeout: 1000 * patienceSeconds,
      };
      const sent = request(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const type = response.headers['content-type'] ?? '';
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, type, body: text, ms: performance.now() - started });
        });
      });
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${patienceSeconds} s`)));
      sent.on('error', reject);
      sent.end(body);
    });
  const upload: Client['upload'] = (path, parts, headers = {}) =>
    send('POST', path, multipart(parts), {
      'Content-Type': contentType,
      Authorization: `Bearer ${token}`,
      ...headers,
    });
  return { upload, send, close: () => agent.destroy() };
}
