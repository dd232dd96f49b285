/** Jobs in this very process, beside a real Redis that fails them, and a worker whose recording never comes. */
import test from 'ava';
import pino from 'pino';
import { defaultOptions } from '../../src/engine/chunks.ts';
import { ServiceError } from '../../src/service/errors.ts';
import type { JobRequest } from '../../src/service/jobs/jobs.ts';
import { openJobService as open } from '../support/job-service.ts';
import { listen } from '../support/listening.ts';
import { until } from '../support/wait.ts';

const owner = { key: 'token:1', accountId: null };
const upload: JobRequest = {
  owner,
  idempotencyKey: 'k',
  source: { kind: 'upload', sizes: { audio: 4, baselines: [] } },
  ...defaultOptions,
  callback: null,
  digest: 'd',
};

test.serial('the error of a full Redis does not contain the uploaded bytes', async (t) => {
  const { jobs, redis } = await open(t);
  await redis.client.config('SET', 'maxmemory', '1');
  const failure = await t.throwsAsync(jobs.uploadStore.append('job_1', 'audio', 0, Buffer.alloc(100_000)), {
    instanceOf: ServiceError,
  });
  t.is(failure?.code, 'queue_unavailable');
  const logged = JSON.stringify(pino.stdSerializers.err(failure?.cause as Error));
  t.regex(logged, /EXECABORT/);
  t.true(logged.length < 5000, `${logged.length} characters`);
});

test.serial('a recording whose job cannot be created is deleted, and its key can be reused', async (t) => {
  const { jobs, redis } = await open(t);
  const begin = async (id: string) => {
    await jobs.uploadStore.append(id, 'audio', 0, Buffer.alloc(4));
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
  await jobs.uploadStore.append('job_1', 'audio', 0, Buffer.alloc(4));
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
    await jobs.uploadStore.append('job_1', 'audio', 0, Buffer.alloc(4));
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

test.serial('a worker that is stopped does not wait for a recording that never comes', async (t) => {
  const url = `http://127.0.0.1:${await listen(t, () => {})}/`;
  const { jobs, work } = await open(t, {
    UNDERTONE_JOB_URL_PREFIXES: url,
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
    UNDERTONE_SHUTDOWN_S: '0.1',
  });
  const worker = await work();
  const { id } = await jobs.create('job_1', { ...upload, source: { kind: 'object', url } });
  await until(async () => (await jobs.find(owner, id))?.status === 'running');
  await worker.stop();
  t.is((await jobs.find(owner, id))?.status, 'waiting');
});
