/** One service without Redis per embedded database, until its process ends, however it ends. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { syntheticSignal } from '../../src/engine/golden.ts';
import { makeFolder } from '../support/folder.ts';
import { createJobClient, jobOf } from '../support/jobs.ts';
import { sharedReceiptKeys } from '../support/receipt-keys.ts';
import { useRedis } from '../support/redis.ts';
import { makeToken, spawnServer, startServer } from '../support/server.ts';

type Env = Readonly<Record<string, string>>;

/** @returns the one line of a start that fails */
async function refusal(t: ExecutionContext, env: Env): Promise<string> {
  const second = await spawnServer(t, env);
  t.deepEqual(await second.exit, { code: 1, signal: null });
  return second.stderr();
}

test('a second service says who holds the database, the first goes on, and kill -9 frees it', async (t) => {
  const env = { UNDERTONE_DATA_DIR: makeFolder() };
  const first = await startServer(t, env);
  const { upload, ended } = createJobClient(first);
  const { id } = jobOf(await upload([{ name: 'audio', bytes: wavFile(syntheticSignal(1, 8)) }]));
  const line = await refusal(t, env);
  const path = join(env.UNDERTONE_DATA_DIR, 'undertone.db');
  const holder = `process ${first.process.pid} on ${hostname()} since `;
  t.true(
    line.startsWith(`Expected a database that no other service uses, got ${path}, in use by ${holder}`),
    line,
  );
  t.is(line.split('\n').length, 2, line);
  const byFile = { UNDERTONE_DATA_DIR: makeFolder(), UNDERTONE_DATABASE_URL: `file:${path}` };
  t.true((await refusal(t, byFile)).includes(holder), 'from another folder of data');
  t.regex(makeToken({ dataDir: env.UNDERTONE_DATA_DIR }, 'analyze:emotion'), /^ut_/);
  t.like(await ended(id), { status: 'done' });
  await first.stop('SIGKILL');
  const next = await startServer(t, env);
  t.deepEqual(await next.stop('SIGTERM'), { code: 0, signal: null });
});

test('services with one Redis share the database, and one without is refused', async (t) => {
  const dataDir = makeFolder();
  const redis = await useRedis(t);
  const shared = {
    UNDERTONE_DATA_DIR: dataDir,
    UNDERTONE_REDIS_URL: redis.url,
    ...(await sharedReceiptKeys()),
  };
  const services = [await startServer(t, shared), await startServer(t, shared)];
  t.regex(await refusal(t, { UNDERTONE_DATA_DIR: dataDir }), /in use by process \d+ on /);
  for (const service of services) t.deepEqual(await service.stop('SIGTERM'), { code: 0, signal: null });
});
