/** A stop while Redis is gone or hangs: it takes no longer than what runs. */
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import type { Running } from '../support/cli.ts';
import { jobOf, openJobWeb, startJobStack } from '../support/jobs.ts';
import { until } from '../support/wait.ts';

const shutdownSeconds = 120;
const env = { UNDERTONE_JOB_WORKERS: '1', UNDERTONE_SHUTDOWN_S: String(shutdownSeconds) };

/** Far below the shutdown limit, which a stop took before, on a machine that is busy. */
const maxStopMs = (1000 * shutdownSeconds) / 3;

const reasonsOf = ({ stdout, stderr }: Pick<Running, 'stdout' | 'stderr'>) =>
  [...(stdout() + stderr()).matchAll(/"reason":"([^"]*)".*"queue in Redis/g)].map(([, reason]) => reason);

for (const how of ['kill', 'hang'] as const)
  test.serial(`with a Redis that ${how}s, service and worker without a job stop soon`, async (t) => {
    const { server, redis, startWorker } = await startJobStack(t, env);
    const worker = await startWorker();
    await redis[how]();
    if (how === 'kill') {
      await until(() => reasonsOf(server).length > 0);
      await sleep(2000);
      t.deepEqual(reasonsOf(server), [...new Set(reasonsOf(server))], 'each reason once');
    }
    for (const one of [server, worker]) {
      const started = performance.now();
      t.deepEqual(await one.stop('SIGTERM'), { code: 0, signal: null });
      const ms = performance.now() - started;
      t.true(ms < maxStopMs, `${how}: ${ms} ms`);
    }
    redis.goOn();
  });

test.serial('a job that runs while Redis is gone has the shutdown limit', async (t) => {
  const web = await openJobWeb(t);
  const limit = { UNDERTONE_SHUTDOWN_S: '8' };
  const { server, redis, list, show } = await startJobStack(t, { ...env, ...web.env, ...limit });
  const { id } = JSON.parse((await list({ urls: [web.url] })).body).jobs[0];
  await until(async () => jobOf(await show(id)).status === 'running');
  await redis.kill();
  const started = performance.now();
  t.deepEqual(await server.stop('SIGTERM'), { code: 0, signal: null });
  t.true(performance.now() - started > 6000);
});
