/** Jobs in this very process, beside a real Redis that fails them, and a worker whose recording never comes. */
import test from 'ava';
import pino from 'pino';
import type { JobRequest } from '../../src/jobs/jobs.ts';
import { ServiceError } from '../../src/runtime/errors.ts';
import { openJobService as open } from '../support/job-service.ts';
import { listen } from '../support/listening.ts';
import { until } from '../support/wait.ts';

const owner = { key: 'token:1', accountId: null };
const upload: JobRequest = {
  owner,
  idempotencyKey: 'k',
  source: { kind: 'upload', sizes: { audio: 4, baseline: 0 } },
  channel: null,
  callback: null,
  digest: 'd',
};

const object: JobRequest = { ...upload, source: { kind: 'object', url: 'https://bucket.example/a.wav' } };

test.serial('what Redis has no memory for is told without the bytes that it was given', async (t) => {
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

test.serial('a recording whose job cannot be begun is dropped, and its key stays free', async (t) => {
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

test.serial('pieces wait for their upload, and longer once there is a job', async (t) => {
  const { jobs, redis } = await open(t);
  const left = () => redis.client.ttl('undertone:waiting:job_1:audio');
  await jobs.uploadStore.append('job_1', 'audio', 0, Buffer.alloc(4));
  t.true((await left()) <= 660);
  await jobs.create('job_1', upload);
  t.true((await left()) > 21_000);
});

test.serial('places in the queue are kept for those that are on their way', async (t) => {
  const { jobs } = await open(t, { UNDERTONE_JOB_QUEUE: '6' });
  const full = {
    instanceOf: ServiceError,
    message: /^Expected at most \d more jobs of this owner in the queue/,
  };
  await t.throwsAsync(
    jobs.reserveSlots(owner, 4, async () => t.fail()),
    full,
  );
  await jobs.reserveSlots(owner, 2, async () => {
    await t.throwsAsync(
      jobs.reserveSlots(owner, 2, async () => t.fail()),
      full,
    );
    await jobs.reserveSlots(owner, 1, () => jobs.create('job_1', object));
  });
  await t.throwsAsync(
    jobs.reserveSlots(owner, 3, async () => t.fail()),
    full,
  );
  t.is(await jobs.reserveSlots(owner, 2, async () => 'taken'), 'taken');
});

test.serial('a job that its workers were lost with is given up', async (t) => {
  const { jobs, redis, work } = await open(t);
  await jobs.uploadStore.append('job_1', 'audio', 0, Buffer.alloc(4));
  await jobs.create('job_1', upload);
  const [kept = ''] = await redis.client.keys('undertone:analyses-*:job_1');
  // As BullMQ marks one that was lost too often.
  await redis.client.hset(kept, 'defa', 'job stalled more than allowable limit');
  const worker = await work();
  await until(async () => (await jobs.find(owner, 'job_1'))?.status === 'failed');
  t.like((await jobs.find(owner, 'job_1'))?.error, { code: 'worker_lost' });
  await worker.stop();
  t.deepEqual(await redis.client.keys('undertone:waiting:*'), []);
});

test.serial('a worker that is stopped does not wait for a recording that never comes', async (t) => {
  const url = `http://127.0.0.1:${await listen(t, () => {})}/`;
  const { jobs, work } = await open(t, {
    UNDERTONE_JOB_URL_PREFIXES: url,
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
    UNDERTONE_JOB_UPLOAD_S: '600',
    UNDERTONE_SHUTDOWN_S: '0.1',
  });
  const worker = await work();
  const { id } = await jobs.create('job_1', { ...upload, source: { kind: 'object', url } });
  await until(async () => (await jobs.find(owner, id))?.status === 'running');
  await worker.stop();
  t.is((await jobs.find(owner, id))?.status, 'waiting');
});
