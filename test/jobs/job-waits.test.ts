/** GET /v1/jobs/ID?wait=SECONDS, with jobs that other processes end. */
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { defaultOptions } from '../../src/engine/chunks.ts';
import { createJobStore } from '../../src/service/jobs/job-store.ts';
import { createJobWaits } from '../../src/service/jobs/jobs.ts';
import { startApp, tokens, untilMetric } from '../support/app.ts';
import { call, wire } from '../support/http.ts';
import { openJobService } from '../support/job-service.ts';

const owner = { key: 'token:1', accountId: null };

async function open(t: ExecutionContext) {
  const { database, jobs } = await openJobService(t);
  const app = await startApp(t, { jobs });
  const source = { kind: 'object', url: 'https://bucket.example/a.wav' } as const;
  await jobs.create('job_1', {
    ...defaultOptions,
    owner,
    source,
    idempotencyKey: null,
    digest: '',
    callback: null,
  });
  const headers = { Authorization: `Bearer ${tokens.full}` };
  const get = async (wait: string) => {
    const { status, body } = await call(app.port, { path: `/v1/jobs/job_1?wait=${wait}`, headers });
    return { http: status, ...JSON.parse(body) };
  };
  // A store of its own, as that of a worker in another process.
  return { app, get, jobs, store: createJobStore(database), headers };
}

const waiting = 'undertone_job_waits';

test.serial('a wait ends with the job, whichever process ends it', async (t) => {
  const { app, get, store } = await open(t);
  const waits = ['60', '3600'].map(get);
  await untilMetric(app, waiting, 2);
  await store.finish('job_1', 'done', '{"status":"ok"}', Date.now() + 600_000);
  for (const job of await Promise.all(waits))
    t.like(job, { http: 200, status: 'done', result: { status: 'ok' } });
  await untilMetric(app, waiting, 0);
  t.like(await get('60'), { status: 'done' });
});

test.serial('a wait ends with a job that is deleted, and after its time with the state', async (t) => {
  const { app, get, store } = await open(t);
  t.like(await get('1'), { http: 200, status: 'waiting' });
  const deleted = get('60');
  await untilMetric(app, waiting, 1);
  await store.delete('job_1');
  t.like(await deleted, { http: 404 });
});

test.serial('a wait ends at the shutdown with the state, and later ones do not begin', async (t) => {
  const { app, get, jobs } = await open(t);
  const waits = get('60');
  await untilMetric(app, waiting, 1);
  jobs.waits.end();
  t.like(await waits, { http: 200, status: 'waiting' });
  t.like(await get('60'), { http: 200, status: 'waiting' });
});

test.serial('a client that closes the connection ends its wait', async (t) => {
  const { app } = await open(t);
  const client = await wire(app.port);
  const head = `GET /v1/jobs/job_1?wait=60 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.full}\r\n\r\n`;
  client.socket.write(head);
  await untilMetric(app, waiting, 1);
  client.socket.destroy();
  await untilMetric(app, waiting, 0);
  t.pass();
});

test.serial('other values are refused', async (t) => {
  const { get } = await open(t);
  for (const wait of ['', 'x', '-1', '1.5', '1&wait=2']) {
    t.like(await get(wait), {
      http: 400,
      detail: 'Expected a whole number of seconds for `wait`, got something else',
    });
  }
});

test('an owner with its share of the waits does not wait, and one query asks about all jobs', async (t) => {
  const asked: number[] = [];
  const store = {
    findOpen: async (ids: readonly string[]) => {
      asked.push(ids.length);
      return [...ids];
    },
  };
  const waits = createJobWaits(store);
  const { signal } = new AbortController();
  const all = Array.from({ length: 600 }, (_, index) => waits.wait(owner, `job_${index}`, 60_000, signal));
  t.is(waits.count(), 512);
  void waits.wait({ key: 'token:2', accountId: null }, 'job_other', 60_000, signal);
  t.is(waits.count(), 513);
  while (asked.length === 0) await sleep(20);
  t.is(asked[0], 513);
  waits.end();
  await Promise.all(all);
  t.is(waits.count(), 0);
});
