/** Jobs in the queue: slots, payloads, cancelled jobs. */
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { toneFile } from '../../benchmarks/upload-body.ts';
import { defaultOptions } from '../../src/engine/options.ts';
import { createCipher } from '../../src/service/jobs/cipher.ts';
import { createMemoryQueues } from '../../src/service/jobs/memory-queues.ts';
import {
  decryptPayload,
  type EncryptedPayload,
  encryptPayload,
  NewerPayloadError,
  type Payload,
  PayloadError,
} from '../../src/service/jobs/payload.ts';
import { findQueued } from '../../src/service/jobs/queue-state.ts';
import type { JobQueue } from '../../src/service/jobs/queues.ts';
import { openJobService, requestOf, secret } from '../support/job-service.ts';
import { openJobWeb } from '../support/jobs.ts';
import { until } from '../support/wait.ts';

const owner = { key: 'token:1', accountId: null };

/** A request whose recording never comes, with a callback. */
async function openWeb(t: ExecutionContext) {
  let asked = 0;
  const { url, env, calls } = await openJobWeb(t, () => void asked++);
  const request = { ...requestOf(owner, `${url}a.wav`, `${url}hook`), metadata: { order: '7' } };
  return { calls, env, request, asked: () => asked };
}

test.serial('a job that is removed while it waits is called back as cancelled, once', async (t) => {
  const { calls, env, request } = await openWeb(t);
  const { jobs, queues, work } = await openJobService(t, env);
  const { created_at } = await jobs.create('job_1', request);
  t.true(await jobs.remove(owner, 'job_1'));
  t.false(await jobs.remove(owner, 'job_1'));
  t.is(await jobs.find(owner, 'job_1'), null);
  t.is(await queues.analyses.countWaiting(owner.key), 0);
  await jobs.create('job_2', { ...request, callback: null });
  t.true(await jobs.remove(owner, 'job_2'));
  await work();
  while (calls.length === 0) await sleep(20);
  while ((await queues.callbacks.queue.getJob('job_1')) !== undefined) await sleep(20);
  const { finished_at } = calls[0] as { readonly finished_at: string };
  t.deepEqual(calls as readonly unknown[], [
    {
      type: 'job.cancelled',
      timestamp: finished_at,
      id: 'job_1',
      status: 'cancelled',
      reason: null,
      created_at,
      finished_at,
      expires_at: finished_at,
      progress: null,
      metadata: { order: '7' },
      result: null,
      error: null,
    },
  ]);
});

test.serial(
  'a job that is removed while a worker has it ends soon, and is called back as cancelled, once',
  async (t) => {
    const { calls, env, request, asked } = await openWeb(t);
    const { jobs, queues, log, work } = await openJobService(t, env);
    await work();
    await jobs.create('job_1', request);
    while (asked() === 0) await sleep(20);
    t.like(await jobs.find(owner, 'job_1'), { status: 'running' });
    t.true(await jobs.remove(owner, 'job_1'));
    while (calls.length === 0) await sleep(20);
    for (const queue of [queues.analyses, queues.callbacks]) {
      while ((await queue.queue.getJob('job_1')) !== undefined) await sleep(20);
    }
    t.is(asked(), 1);
    t.deepEqual(
      calls.map(({ id, status }) => [id, status]),
      [['job_1', 'cancelled']],
    );
    t.deepEqual(
      log()
        .filter(({ job_id }) => job_id === 'job_1')
        .map(({ msg }) => msg),
      ['job cancelled', 'callback sent'],
    );
  },
);

test.serial('a job that is removed just before its end is called back as cancelled alone', async (t) => {
  let remove = async () => {};
  const { url, env, calls } = await openJobWeb(t, async (_, response) => {
    await remove();
    response.end(toneFile(1));
  });
  const { jobs, queues, work } = await openJobService(t, env);
  await work();
  remove = async () => void (await jobs.remove(owner, 'job_1'));
  await jobs.create('job_1', requestOf(owner, url, url));
  while ((await queues.analyses.queue.getJob('job_1')) !== undefined) await sleep(20);
  while ((await queues.callbacks.queue.getJob('job_1')) !== undefined) await sleep(20);
  t.deepEqual(
    calls.map(({ status }) => status),
    ['cancelled'],
  );
});

test.serial('a job that another worker ended first is logged and counted by that worker alone', async (t) => {
  let end = async () => {};
  const { url, env, calls } = await openJobWeb(t, async (_, response) => {
    await end();
    response.end(toneFile(1));
  });
  const { jobs, queues, work, log } = await openJobService(t, env);
  await work();
  end = async () =>
    void (await jobs.results.store('job_1', Buffer.from('{}'), Date.now(), Date.now() + 1_000_000));
  await jobs.create('job_1', requestOf(owner, url, url));
  await until(() => calls.length > 0);
  while ((await queues.analyses.queue.getJob('job_1')) !== undefined) await sleep(20);
  t.deepEqual(
    calls.map(({ status }) => status),
    ['done'],
  );
  t.false(log().some(({ msg }) => msg === 'job done'));
});

test('a job that moves to the queue of long recordings between two reads is found', async (t) => {
  const queues = createMemoryQueues();
  const job = {
    id: 'job_1',
    owner: owner.key,
    payload: encryptPayload(payload, 'job_1', cipher),
    createdAt: 0,
  };
  await queues.analyses.add(job);
  let reads = 0;
  const moving = (queue: JobQueue): JobQueue => ({
    ...queue,
    find: async (id) => {
      const found = await queue.find(id);
      if (reads++ > 0) return found;
      await queues.long.add(job);
      await queues.analyses.remove(id, owner.key);
      return found;
    },
  });
  const both = { ...queues, analyses: moving(queues.analyses), long: moving(queues.long) };
  t.is((await findQueued(both, 'job_1'))?.entry.status, 'waiting');
  await queues.close();
});

test('the queue in memory counts jobs that wait and run, each once, at every moment', async (t) => {
  const { analyses } = createMemoryQueues();
  analyses.work({ concurrency: 1, process: async () => {}, onFailed: () => {}, onError: () => {} });
  const adding = ['job_1', 'job_2'].map((id) =>
    analyses.add({ id, owner: owner.key, payload: { sealed: '' }, createdAt: 0 }),
  );
  const waiting: number[] = [];
  // Between any two steps of the queue.
  for (let turn = 0; turn < 100; turn++) waiting.push((await analyses.count()).waiting);
  await Promise.all(adding);
  t.deepEqual([...new Set(waiting)], [1, 0]);
});

test.serial('a job whose account is gone is cancelled by the worker that takes it', async (t) => {
  const { calls, env, request } = await openWeb(t);
  const { jobs, database, work } = await openJobService(t, env);
  await jobs.create('job_1', request);
  await database.deleteFrom('jobs').execute();
  await work();
  while (calls.length === 0) await sleep(20);
  t.like(calls[0], { id: 'job_1', status: 'cancelled' });
});

const cipher = createCipher(secret);

const sealed = (value: unknown): EncryptedPayload => ({
  sealed: cipher.encrypt(Buffer.from(JSON.stringify(value)), 'job_1/payload').toString('base64'),
});

const payload: Payload = {
  source: { kind: 'upload', sizes: { audio: 4, baselines: [7] } },
  ...defaultOptions,
  callback: null,
  receipt: null,
  usage: null,
  metadata: {},
  owner: owner.key,
  installation: '00000000-0000-4000-8000-000000000001',
  cancelledAt: null,
};

test('a payload is read as it was written, for its own job alone', (t) => {
  const encrypted = encryptPayload(payload, 'job_1', cipher);
  t.deepEqual(decryptPayload(encrypted, 'job_1', cipher), payload);
  t.throws(() => decryptPayload(encrypted, 'job_2', cipher), { instanceOf: PayloadError });
});

test('payloads of later releases have an error of their own, unlike malformed ones', (t) => {
  const read = (value: unknown) => () => decryptPayload(sealed(value), 'job_1', cipher);
  t.throws(read({ version: 3, anything: true }), {
    instanceOf: NewerPayloadError,
    message: 'Expected a payload of version 2, got version 3',
  });
  const right = { version: 2, ...payload };
  t.deepEqual(read({ ...right, later: 1 })(), payload);
  const { track, ...first } = payload;
  t.deepEqual(read({ version: 1, ...first })(), { ...payload, track: null }, 'of 1.0.0');
  for (const wrong of [
    null,
    'x',
    {},
    payload,
    { ...right, channel: '1' },
    { ...right, version: 0 },
    { ...right, source: {} },
    { ...right, track: '1' },
    ...Object.keys(first).map((field) => ({ ...right, [field]: undefined })),
  ]) {
    t.throws(read(wrong), { instanceOf: PayloadError }, JSON.stringify(wrong));
  }
});

test.serial('a job that a later release queued is left to a worker of that release', async (t) => {
  const { jobs, queues, log, work } = await openJobService(t);
  await jobs.create('job_1', requestOf(owner, 'https://bucket.example/a.wav'));
  const job = await queues.analyses.queue.getJob('job_1');
  await job?.updateData(sealed({ version: 3 }));
  await work();
  const left = () => log().find(({ msg }) => msg === 'job of a later release left in the queue');
  while (left() === undefined) await sleep(50);
  while ((await job?.getState()) !== 'delayed') await sleep(50);
  t.like(await jobs.find(owner, 'job_1'), { status: 'waiting', errorJson: null });
  t.is((await queues.analyses.queue.getJob('job_1'))?.attemptsMade, 0);
});
