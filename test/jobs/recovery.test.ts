/** Workers that fail: a job that loses its worker, and failures of the service's own. */
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { sql } from 'kysely';
import { defaultOptions } from '../../src/engine/options.ts';
import { ServiceError } from '../../src/service/errors.ts';
import type { JobRequest } from '../../src/service/jobs/jobs.ts';
import type { Running } from '../support/cli.ts';
import { addCallback, type JobService, openJobService as open } from '../support/job-service.ts';
import { type JobReply, type JobStack, jobOf, openJobWeb, startJobStack } from '../support/jobs.ts';
import { lecture } from '../support/recordings.ts';
import { share } from '../support/share.ts';
import { until } from '../support/wait.ts';

/** Several chunks. */
const seconds = 1000;

/** Stops the worker's process with SIGSTOP between the first chunk of the job and its end. */
async function stopInside(place: JobStack, worker: Running, id: string): Promise<JobReply> {
  for (;;) {
    process.kill(worker.process.pid as number, 'SIGSTOP');
    const job = jobOf(await place.show(id));
    if (job.progress !== null || job.finished_at !== null) return job;
    process.kill(worker.process.pid as number, 'SIGCONT');
    await sleep(50);
  }
}

/** Of the first two tests. */
const stack = share(test, async (t) => {
  const web = await openJobWeb(t);
  return { ...(await startJobStack(t, { ...web.env, UNDERTONE_SHUTDOWN_S: '0.5' })), web };
});

test.serial('a worker killed in the middle of a job is replaced, and the job ends once', async (t) => {
  const place = stack();
  const { url: callback, calls } = place.web;
  const first = await place.startWorker();
  const parts = [
    { name: 'audio', bytes: lecture(seconds) },
    { name: 'callback', bytes: callback },
  ];
  const { id } = jobOf(await place.upload(parts));
  const job = await stopInside(place, first, id);
  t.is(job.status, 'running');
  t.is(job.progress?.duration_s, seconds);
  t.deepEqual(await first.stop('SIGKILL'), { code: null, signal: 'SIGKILL' });
  t.is((await place.redis.client.keys('undertone:waiting:*')).length, 1);

  const second = await place.startWorker();
  const ended = await place.ended(id);
  t.is(ended.status, 'done', JSON.stringify(ended.error));
  t.true(second.stderr().includes(`"job_id":"${id}","msg":"job returned to the queue: its worker was lost"`));
  t.like(ended.result, { request_id: id, status: 'ok', audio: { duration_s: seconds } });
  await second.logged(/callback sent/);
  t.is(second.stderr().match(/"job done"/g)?.length, 1);
  await sleep(500);
  t.deepEqual(
    calls.map((call) => call.id),
    [id],
  );
  t.deepEqual(await place.redis.client.keys('undertone:waiting:*'), []);
  await second.stop('SIGKILL');
});

test.serial(
  'a worker that receives SIGTERM returns its job to the queue, and a removed job ends',
  async (t) => {
    const place = stack();
    const first = await place.startWorker();
    const { id } = jobOf(await place.upload([{ name: 'audio', bytes: lecture(seconds) }]));
    await stopInside(place, first, id);
    const ended = first.stop('SIGTERM');
    process.kill(first.process.pid as number, 'SIGCONT');
    t.deepEqual(await ended, { code: 0, signal: null });
    t.is(jobOf(await place.show(id)).status, 'waiting');
    const second = await place.startWorker();
    await until(async () => jobOf(await place.show(id)).progress !== null);
    t.is((await place.remove(id)).status, 200);
    t.is((await place.show(id)).status, 404);
    t.deepEqual(await second.stop('SIGTERM'), { code: 0, signal: null });
    t.deepEqual(await place.redis.client.keys('undertone:waiting:*'), []);
  },
);

test.serial(
  'a second signal returns the job to the queue at once, and the worker exits with code 1',
  async (t) => {
    const { url, env } = await openJobWeb(t);
    const place = await startJobStack(t, { ...env, UNDERTONE_SHUTDOWN_S: '600' });
    const worker = await place.startWorker();
    const { id } = JSON.parse((await place.list({ urls: [url] })).body).jobs[0];
    await until(async () => jobOf(await place.show(id)).status === 'running');
    process.kill(worker.process.pid as number, 'SIGTERM');
    await worker.logged(/"stopping"/);
    // What comes sooner is the echo of the first.
    await sleep(600);
    t.deepEqual(await worker.stop('SIGTERM'), { code: 1, signal: null });
    t.is(jobOf(await place.show(id)).status, 'waiting');
  },
);

// Jobs in this very process, with a real Redis that fails them, and a worker whose recording never comes.

const owner = { key: 'token:1', accountId: null };
const upload: JobRequest = {
  owner,
  idempotencyKey: 'k',
  source: { kind: 'upload', sizes: { audio: 4, baselines: [] } },
  ...defaultOptions,
  callback: null,
  digest: 'd',
};

const chunk = { id: 'job_1', owner: owner.key, part: 'audio', index: 0, bytes: Buffer.alloc(4) } as const;

test.serial('the error of a full Redis does not contain the uploaded bytes', async (t) => {
  const { jobs, redis } = await open(t);
  await redis.client.config('SET', 'maxmemory', '1');
  const bytes = Buffer.alloc(100_000);
  const failure = await t.throwsAsync(jobs.uploadStore.append({ ...chunk, bytes }), {
    instanceOf: ServiceError,
  });
  t.is(failure?.code, 'overloaded');
  t.regex(String(failure?.message), /maxmemory of the Redis/);
  t.is(failure?.cause, undefined, 'no stack in the log');
});

test.serial('a recording whose job cannot be created is deleted, and its key can be reused', async (t) => {
  const { jobs, redis } = await open(t);
  const begin = async (id: string) => {
    await jobs.uploadStore.append({ ...chunk, id });
    return jobs.create(id, upload);
  };
  await redis.client.call('ACL', 'SETUSER', 'default', '-xadd');
  await t.throwsAsync(begin('job_1'), { instanceOf: ServiceError });
  t.deepEqual(await redis.client.keys('undertone:waiting:*'), []);
  await redis.client.call('ACL', 'SETUSER', 'default', '+xadd');
  t.is((await begin('job_2')).id, 'job_2');
});

test.serial('a job that stalled too often fails with worker_lost', async (t) => {
  const { jobs, redis, work } = await open(t);
  await jobs.uploadStore.append(chunk);
  await jobs.create('job_1', upload);
  const [kept = ''] = await redis.client.keys('undertone:analyses-*:job_1');
  // As BullMQ marks one that was lost too often.
  await redis.client.hset(kept, 'defa', 'job stalled more than allowable limit');
  const worker = await work();
  await until(async () => (await jobs.find(owner, 'job_1'))?.status === 'failed');
  t.like(JSON.parse((await jobs.find(owner, 'job_1'))?.errorJson ?? ''), { code: 'worker_lost' });
  await worker.stop();
  t.deepEqual(await redis.client.keys('undertone:waiting:*'), []);
});

test.serial(
  'a job whose attempts end in an internal error fails with internal, and the log has the stack',
  async (t) => {
    const { jobs, redis, work, log } = await open(t);
    await jobs.uploadStore.append(chunk);
    await jobs.create('job_1', upload);
    const [part = ''] = await redis.client.keys('undertone:waiting:job_1:audio');
    await redis.client.del(part);
    await redis.client.rpush(part, 'not encrypted');
    const [kept = ''] = await redis.client.keys('undertone:analyses-*:job_1');
    await redis.client.hset(kept, 'opts', JSON.stringify({ attempts: 1, removeOnFail: true }));
    await work();
    await until(async () => (await jobs.find(owner, 'job_1'))?.status === 'failed');
    t.like(JSON.parse((await jobs.find(owner, 'job_1'))?.errorJson ?? ''), {
      code: 'internal',
      detail: 'Internal error',
    });
    const failed = log().find(({ msg }) => msg === 'job attempt failed');
    t.regex(JSON.stringify(failed), /"stack":"[^"]+ at /);
  },
);

/** Takes the database from a worker until it has put its job back twice, and checks that no attempt counts. */
async function outage(
  t: ExecutionContext,
  { redis, work, log, database }: JobService,
  queue: 'analyses' | 'callbacks',
): Promise<void> {
  await sql`ALTER TABLE jobs RENAME TO away`.execute(database);
  await work();
  const left = 'job left in the queue: the database is unavailable';
  await until(() => log().filter(({ msg }) => msg === left).length > 1);
  const [kept = ''] = await redis.client.keys(`undertone:${queue}-*:job_1`);
  t.is((await redis.client.hget(kept, 'atm')) ?? '0', '0');
  await sql`ALTER TABLE away RENAME TO jobs`.execute(database);
}

test.serial('an outage of the database costs a job no attempt, and the job ends after it', async (t) => {
  const service = await open(t);
  const { jobs } = service;
  const audio = lecture(10);
  await jobs.uploadStore.append({ ...chunk, bytes: audio });
  const sizes = { audio: audio.length, baselines: [] };
  await jobs.create('job_1', { ...upload, source: { kind: 'upload', sizes } });
  await outage(t, service, 'analyses');
  await until(async () => (await jobs.find(owner, 'job_1'))?.status === 'done');
});

test.serial('an outage of the database costs a callback no attempt, and it is sent after it', async (t) => {
  const { url, env, calls } = await openJobWeb(t);
  const service = await open(t, env);
  await addCallback(service, 'job_1', owner, url);
  await outage(t, service, 'callbacks');
  await until(() => calls.length > 0);
  t.is(calls[0]?.id, 'job_1');
});

test.serial('a worker that is stopped does not wait for a recording that never comes', async (t) => {
  const { url, env } = await openJobWeb(t);
  const { jobs, work } = await open(t, { ...env, UNDERTONE_SHUTDOWN_S: '0.1' });
  const worker = await work();
  const { id } = await jobs.create('job_1', { ...upload, source: { kind: 'object', url } });
  await until(async () => (await jobs.find(owner, id))?.status === 'running');
  await worker.stop();
  t.is((await jobs.find(owner, id))?.status, 'waiting');
});
