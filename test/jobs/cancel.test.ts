/** Jobs that are removed before their end: one callback says so, and the work ends soon. */
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { toneFile } from '../../benchmarks/upload-body.ts';
import { defaultOptions } from '../../src/engine/chunks.ts';
import { openJobService } from '../support/job-service.ts';
import { listen } from '../support/listening.ts';

const owner = { key: 'token:1', accountId: null };

/** A server that never answers for recordings, and takes callbacks. */
async function openWeb(t: ExecutionContext) {
  const calls: { readonly id: string; readonly status: string }[] = [];
  let asked = 0;
  const port = await listen(t, async (request, response) => {
    if (request.method === 'GET') {
      asked++;
      return;
    }
    calls.push(JSON.parse(await text(request)));
    response.end();
  });
  const url = `http://127.0.0.1:${port}/`;
  const env = {
    UNDERTONE_JOB_URL_PREFIXES: url,
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
  };
  const request = {
    owner,
    idempotencyKey: null,
    digest: '',
    source: { kind: 'object', url: `${url}a.wav` },
    ...defaultOptions,
    callback: `${url}hook`,
    metadata: { order: '7' },
  } as const;
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
  const { finished_at } = calls[0] as unknown as { finished_at: string };
  t.deepEqual(calls as unknown, [
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
  const calls: string[] = [];
  let remove = async () => {};
  const port = await listen(t, async (asked, response) => {
    if (asked.method === 'GET') await remove();
    else calls.push(JSON.parse(await text(asked)).status);
    response.end(toneFile(1));
  });
  const url = `http://127.0.0.1:${port}/`;
  const env = { UNDERTONE_JOB_URL_PREFIXES: url, UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1' };
  const { jobs, queues, work } = await openJobService(t, env);
  await work();
  remove = async () => void (await jobs.remove(owner, 'job_1'));
  const source = { kind: 'object', url } as const;
  const request = { owner, idempotencyKey: null, digest: '', source, ...defaultOptions, callback: url };
  await jobs.create('job_1', request);
  while ((await queues.analyses.queue.getJob('job_1')) !== undefined) await sleep(20);
  while ((await queues.callbacks.queue.getJob('job_1')) !== undefined) await sleep(20);
  t.deepEqual(calls, ['cancelled']);
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
