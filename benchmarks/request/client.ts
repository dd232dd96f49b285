/** One client that keeps its connections: 10 s of 16 kHz mono PCM, 320 kB. */
import { Agent, request } from 'node:http';
import { speechFile } from '../speech.ts';
import { contentType, multipart } from '../upload-body.ts';

export const token = 'static-token-of-the-benchmark';
export const recording = speechFile(10);
const agent = new Agent({ keepAlive: true });

/** The form that uploads a recording. */
export function formOf(bytes: Uint8Array): Buffer {
  return multipart([{ name: 'audio', bytes, type: 'audio/wav', filename: 'x.wav' }]);
}

export type Answer = {
  /** From the first byte sent to the last one received. */
  readonly ms: number;
  readonly body: Buffer;
  /** By the header Server-Timing. */
  readonly stages: ReadonlyMap<string, number>;
};

export function ask(port: number, path: string, form?: Buffer): Promise<Answer> {
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(form && { 'Content-Type': contentType, 'Content-Length': form.length }),
  };
  const method = form ? 'POST' : 'GET';
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const sent = request({ port, host: '127.0.0.1', method, path, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const body = Buffer.concat(chunks);
        const stages = parseStages(String(response.headers['server-timing'] ?? ''));
        if (response.statusCode === 200) resolve({ ms: performance.now() - started, body, stages });
        else reject(new Error(`Expected 200 for \`${path}\`, got ${response.statusCode}: ${body}`));
      });
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed the connection because it had been idle.
      if (sent.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(error.code ?? '')) resolve(ask(port, path, form));
      else reject(error);
    });
    sent.end(form);
  });
}

function parseStages(header: string): Answer['stages'] {
  return new Map(
    [...header.matchAll(/([\w-]+);dur=([\d.]+)/g)].map(([, name = '', ms]) => [name, Number(ms)]),
  );
}

const form = formOf(recording);

export function analyze(port: number, path = '/v1/analyze'): Promise<Answer> {
  return ask(port, path, form);
}

/** @returns milliseconds from the first byte sent to the last one received */
export async function post(port: number, path?: string): Promise<number> {
  return (await analyze(port, path)).ms;
}

/** One after the other. */
export async function times(count: number, run: () => Promise<number>): Promise<number[]> {
  const milliseconds: number[] = [];
  for (let index = 0; index < count; index++) milliseconds.push(await run());
  return milliseconds;
}

/** Milliseconds a request when each of `clients` asks again as soon as it was answered. */
export async function closedLoop(
  clients: number,
  count: number,
  run: () => Promise<number>,
): Promise<number> {
  const started = performance.now();
  await Promise.all(Array.from({ length: clients }, () => times(Math.ceil(count / clients), run)));
  return (performance.now() - started) / (clients * Math.ceil(count / clients));
}

export function closeConnections(): void {
  agent.destroy();
}
