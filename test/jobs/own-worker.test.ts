/** With Redis the service takes jobs itself while no worker is registered. */
import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { syntheticSignal } from '../../src/engine/loader.ts';
import { runCli } from '../support/cli.ts';
import { call } from '../support/http.ts';
import { jobOf, startJobStack } from '../support/jobs.ts';
import { until } from '../support/wait.ts';

const audio = { name: 'audio', bytes: wavFile(syntheticSignal(1, 8)) } as const;

test.serial('the service takes jobs until a worker is there, and again when it has gone', async (t) => {
  const place = await startJobStack(t, { UNDERTONE_JOB_WORKERS: '1' });
  const processes = async () => {
    const { body } = await call(place.server.port, { path: '/metrics' });
    return Number(/^undertone_job_processes (\d+)$/m.exec(body)?.[1]);
  };
  const analyse = async () => (await place.ended(jobOf(await place.upload([audio])).id)).status;
  const begun = jobOf(await place.upload([audio]));
  t.is((await place.ended(begun.id)).status, 'done');
  t.is(await processes(), 1);
  const services = 'undertone:services:*';
  const registered = async () => {
    const [key] = await place.redis.client.keys(services);
    return key === undefined ? 0 : place.redis.client.zcard(key);
  };
  t.is(await registered(), 1);
  const worker = await place.startWorker();
  await until(async () => (await registered()) === 0);
  t.is(await analyse(), 'done');
  await until(() => worker.stderr().match(/"job done"/g)?.length === 1);
  await worker.stop('SIGTERM');
  await until(async () => (await registered()) === 1);
  t.is(await analyse(), 'done');
  t.deepEqual(await place.server.stop('SIGTERM'), { code: 0, signal: null });
});

test.serial('jobs that no process takes say so, and doctor as well', async (t) => {
  const place = await startJobStack(t);
  const { id, reason } = jobOf(await place.upload([audio]));
  t.is(reason, 'no_worker');
  t.is(jobOf(await place.show(id)).reason, 'no_worker');
  t.is(JSON.parse((await place.get('/v1/jobs')).body).jobs[0].reason, 'no_worker');
  t.deepEqual(JSON.parse((await place.get('/ready')).body), { jobs: 'no_worker' });
  await until(() => place.server.stderr().includes('no process takes jobs'));
  const env = {
    UNDERTONE_REDIS_URL: place.redis.url,
    UNDERTONE_DATA_DIR: place.server.dataDir,
    UNDERTONE_JOB_WORKERS: '0',
  };
  t.regex((await runCli(['doctor'], { env })).stdout, /warning +redis.*no process takes jobs/);
  await place.startWorker();
  const job = await place.ended(id);
  t.like(job, { status: 'done', reason: null });
  await until(async () => (await place.get('/ready')).body === '{}');
});

test.serial('a service whose Redis has gone ends at the first signal', async (t) => {
  const place = await startJobStack(t, { UNDERTONE_JOB_WORKERS: '1', UNDERTONE_SHUTDOWN_S: '3' });
  t.is((await place.ended(jobOf(await place.upload([audio])).id)).status, 'done');
  await place.redis.kill();
  t.deepEqual(await place.server.stop('SIGTERM'), { code: 0, signal: null });
});
