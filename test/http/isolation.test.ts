import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { childrenOf } from '../../benchmarks/process.ts';
import { syntheticSignal } from '../../src/models/golden.ts';
import { type Server, startServer } from '../support/server.ts';
import { contentType, multipart, toneFile } from '../support/upload.ts';
import { wavFile } from '../support/wav.ts';

const processes = { UNDERTONE_ISOLATION: 'process', UNDERTONE_WORKERS: '2' };

function isAlive(pid: number): boolean {
  try {
    // A zombie has ended, and waits for whoever adopted it.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Whether all have ended within the time. */
async function goneWithin(ms: number, pids: readonly number[]): Promise<boolean> {
  const until = performance.now() + ms;
  while (performance.now() < until && pids.some(isAlive)) await sleep(20);
  return !pids.some(isAlive);
}

const metrics = async ({ url }: Server) => (await fetch(`${url}/metrics`)).text();

async function analyze(
  { url, token }: Server,
  bytes: Uint8Array = toneFile(3),
): Promise<{ status: number; text: string; timing: string }> {
  const response = await fetch(`${url}/v1/analyze`, {
    method: 'POST',
    headers: { 'Content-Type': contentType, Authorization: `Bearer ${token}`, 'X-Request-Id': 'same' },
    body: new Uint8Array(multipart([{ name: 'audio', bytes, type: 'audio/wav' }])),
  });
  const timing = response.headers.get('server-timing') ?? '';
  return { status: response.status, text: await response.text(), timing: timing.replace(/;dur=[\d.]+/g, '') };
}

test('processes answer what threads do', async (t) => {
  const answers = await Promise.all([{}, processes].map(async (env) => analyze(await startServer(t, env))));
  t.is(answers[0]?.status, 200);
  t.deepEqual(answers[1], answers[0]);
});

test('the processes hold no setting of ours, and end with the service in order', async (t) => {
  const server = await startServer(t, processes);
  const children = childrenOf(server.process.pid as number);
  t.is(children.length, 2);
  for (const pid of children) t.notRegex(readFileSync(`/proc/${pid}/environ`, 'utf8'), /UNDERTONE_/);
  for (const pid of children) process.kill(pid, 'SIGTERM');
  t.is((await analyze(server)).status, 200);
  t.deepEqual(childrenOf(server.process.pid as number), children);
  t.deepEqual(await server.stop(), { code: 0, signal: null });
  t.true(await goneWithin(2000, children));
});

test('the processes end when the service is killed, in the middle of an analysis too', async (t) => {
  const server = await startServer(t, processes);
  const children = childrenOf(server.process.pid as number);
  const lost = t.throwsAsync(analyze(server, wavFile(syntheticSignal(1, 800))));
  while (!/^undertone_workers_busy 1$/m.test(await metrics(server))) await sleep(20);
  await sleep(200);
  await server.stop('SIGKILL');
  t.true(await goneWithin(1500, children));
  await lost;
});
