import { readFileSync } from 'node:fs';
import test from 'ava';
import { childrenOf } from '../../benchmarks/process.ts';
import { contentType, multipart, toneFile } from '../../benchmarks/upload-body.ts';
import { wavFile } from '../../benchmarks/wav.ts';
import { syntheticSignal } from '../../src/models/golden.ts';
import { type Server, startServer } from '../support/server.ts';
import { until } from '../support/wait.ts';

const processes = { UNDERTONE_ISOLATION: 'process', UNDERTONE_WORKERS: '2' };

function isAlive(pid: number): boolean {
  try {
    // A zombie has exited and waits for its parent.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const allGone = (pids: readonly number[]) => until(() => !pids.some(isAlive));

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
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

test.serial('worker processes return the same reports as threads', async (t) => {
  const answers = await Promise.all([{}, processes].map(async (env) => analyze(await startServer(t, env))));
  t.is(answers[0]?.status, 200);
  t.deepEqual(answers[1], answers[0]);
});

/** Variables of other programs of the host. */
const secrets = {
  PGPASSWORD: 'of-the-database',
  PGPASSFILE: '/run/pgpass',
  AWS_ACCESS_KEY_ID: 'cloud-key',
  AWS_SECRET_ACCESS_KEY: 'cloud-secret',
  GOOGLE_APPLICATION_CREDENTIALS: '/run/key.json',
  DATABASE_URL: 'postgres://user:password@host/name',
  UNDERTONE_SECRET: 'k3'.repeat(24),
  undertone_token: 'in-small-letters',
  SOMETHING_NEW: 'that-nobody-thought-of',
};

test.serial('worker processes inherit few variables', async (t) => {
  const harmless = { LANG: 'C.UTF-8', TZ: 'UTC' };
  const server = await startServer(t, { ...processes, ...secrets, ...harmless });
  const children = childrenOf(server.process.pid as number);
  t.is(children.length, 2);
  for (const pid of children) {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
    const names = variables.map((line) => line.split('=')[0]).sort();
    t.deepEqual(names, ['LANG', 'PATH', 'TZ']);
    for (const value of Object.values(secrets)) t.false(variables.join('\n').includes(value), value);
  }
});

test.serial('without memory the kernel kills worker processes before the service', async (t) => {
  const server = await startServer(t, processes);
  const oomScore = (pid: number) => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'));
  const pid = server.process.pid as number;
  t.deepEqual(
    childrenOf(pid).map((child) => oomScore(child) > oomScore(pid)),
    [true, true],
  );
});

test.serial('worker processes ignore signals and end with the service', async (t) => {
  const server = await startServer(t, processes);
  const children = childrenOf(server.process.pid as number);
  t.is(children.length, 2);
  for (const pid of children) process.kill(pid, 'SIGTERM');
  t.is((await analyze(server)).status, 200);
  t.deepEqual(childrenOf(server.process.pid as number), children);
  t.deepEqual(await server.stop(), { code: 0, signal: null });
  await allGone(children);
});

test.serial('worker processes end when the service is killed, even during an analysis', async (t) => {
  const server = await startServer(t, processes);
  const children = childrenOf(server.process.pid as number);
  const long = wavFile(syntheticSignal(1, 800));
  const whole = await timed(() => analyze(server, long));
  const lost = t.throwsAsync(analyze(server, long));
  await until(async () => /^undertone_workers_busy 1$/m.test(await metrics(server)));
  await server.stop('SIGKILL');
  // They abort the analysis.
  const gone = await timed(() => allGone(children));
  t.true(gone < whole / 2, `${gone} ms, of an analysis that takes ${whole} ms`);
  await lost;
});
