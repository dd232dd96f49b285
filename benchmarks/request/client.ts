/** One client that keeps its connections: 10 s of 16 kHz mono PCM, 320 kB. */
import { Agent, request } from 'node:http';
import { syntheticSignal } from '../../src/models/golden.ts';
import { contentType, multipart } from '../../test/support/upload.ts';
import { wavFile } from '../../test/support/wav.ts';

export const token = 'static-token-of-the-benchmark';
export const recording = wavFile(syntheticSignal(1, 10));
const body = multipart([{ name: 'audio', bytes: recording, type: 'audio/wav', filename: 'x.wav' }]);
const agent = new Agent({ keepAlive: true });

/** @returns milliseconds from the first byte sent to the last one received */
export function post(port: number, path = '/v1/analyze'): Promise<number> {
  const headers = {
    'Content-Type': contentType,
    'Content-Length': body.length,
    Authorization: `Bearer ${token}`,
  };
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const sent = request({ port, host: '127.0.0.1', method: 'POST', path, headers, agent }, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - started);
        else reject(new Error(`Expected 200 for \`${path}\`, got ${response.statusCode}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** One after the other. */
export async function times(count: number, run: () => Promise<number>): Promise<number[]> {
  const milliseconds: number[] = [];
  for (let index = 0; index < count; index++) milliseconds.push(await run());
  return milliseconds;
}

export function closeConnections(): void {
  agent.destroy();
}
