/** One owner's load does not keep another owner's job or callback waiting. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { toneFile } from '../../benchmarks/upload-body.ts';
import type { JobOwner, StoredJob } from '../../src/service/jobs/jobs.ts';
import { addCallback, openJobService, requestOf } from '../support/job-service.ts';
import { openJobWeb } from '../support/jobs.ts';
import { listen } from '../support/listening.ts';
import { lecture } from '../support/recordings.ts';

const busy: JobOwner = { key: 'token:busy', accountId: null };
const other: JobOwner = { key: 'token:other', accountId: null };

test.serial('the job of another owner is the next one, whatever the length of the queue', async (t) => {
  const fetched: string[] = [];
  const recording = toneFile(1);
  const { url, env } = await openJobWeb(t, (asked, response) => {
    fetched.push(asked.url ?? '');
    response.end(recording);
  });
  const { jobs, work } = await openJobService(t, env);
  const begin = (owner: JobOwner, name: string) =>
    jobs.create(`job_${name}`, requestOf(owner, `${url}${name}`));
  for (let index = 0; index < 30; index++) await begin(busy, `busy${index}`);
  await begin(other, 'other0');
  await begin(other, 'other1');
  await work();
  while (fetched.length < 5) await sleep(20);
  t.deepEqual(fetched.slice(0, 4), ['/busy0', '/other0', '/busy1', '/other1']);
  await begin(other, 'other2');
  const before = fetched.length;
  while (!fetched.includes('/other2')) await sleep(20);
  t.true(fetched.indexOf('/other2') <= before + 2, fetched.join());
});

/** Servers for callbacks: those of the busy owner are never answered. */
async function openHooks(t: ExecutionContext) {
  const dead: ServerResponse[] = [];
  let closed = 0;
  const deadPort = await listen(t, (_, response) => {
    dead.push(response);
    response.once('close', () => closed++);
  });
  const called: string[] = [];
  const livePort = await listen(t, (asked, response) => {
    called.push(String(asked.headers['webhook-id']));
    response.end();
  });
  const at = (port: number) => `http://127.0.0.1:${port}/`;
  return { dead, closed: () => closed, called, deadUrl: at(deadPort), liveUrl: at(livePort) };
}

test.serial('100 callbacks without a response do not delay those of other owners', async (t) => {
  const { dead, closed, called, deadUrl, liveUrl } = await openHooks(t);
  const service = await openJobService(t, { UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1' });
  for (let index = 0; index < 100; index++) await addCallback(service, `job_${index}`, busy, deadUrl);
  await service.work();
  while (dead.length < 16) await sleep(20);
  const started = performance.now();
  await addCallback(service, 'job_same_owner', busy, liveUrl);
  await addCallback(service, 'job_other', other, liveUrl);
  while (called.length === 0) await sleep(20);
  t.log(`called back after ${Math.round(performance.now() - started)} ms`);
  t.is(called[0], 'job_other');
  t.is(closed(), 0, 'no dead callback had to end first');
  t.true(dead.length <= 32, `${dead.length}`);
  const putBack = await service.queues.callbacks.queue.getDelayed();
  t.true(putBack.length > 0);
  t.true(
    putBack.every(({ priority }) => priority > 100),
    'those that are put back have a later turn than the first 100',
  );
});

test.serial('40 URLs of one owner without a response delay no job of another owner', async (t) => {
  const silent: ServerResponse[] = [];
  let closed = 0;
  const { url, env } = await openJobWeb(t, (asked, response) => {
    if (asked.url === '/fast') return response.end(toneFile(1));
    silent.push(response);
    response.once('close', () => closed++);
    // The head and a byte arrive, and nothing else.
    if (silent.length % 2 === 0) response.write('R');
  });
  const { jobs, queues, work } = await openJobService(t, env);
  const begin = (owner: JobOwner, id: string, path: string) =>
    jobs.create(id, requestOf(owner, `${url}${path}`));
  for (let index = 0; index < 40; index++) await begin(busy, `job_${index}`, 'silent');
  const { stop, abort } = await work();
  while (silent.length < 4) await sleep(20);
  const started = performance.now();
  await begin(other, 'job_other', 'fast');
  while ((await jobs.find(other, 'job_other'))?.finished_at === null) await sleep(20);
  t.log(`done after ${Math.round(performance.now() - started)} ms`);
  t.is((await jobs.find(other, 'job_other'))?.status, 'done');
  t.is(closed, 0, 'no silent fetch had to end first');
  while ((await queues.analyses.queue.getDelayedCount()) === 0) await sleep(20);
  const active = await queues.analyses.queue.getActiveCount();
  t.true(active <= 33, `${active}: the share of one owner, and the next one`);
  t.true(await jobs.remove(busy, 'job_0'));
  while (silent[0]?.destroyed === false) await sleep(20);
  const stopped = stop();
  await abort();
  await stopped;
  t.is(closed, silent.length);
  const waiting = await queues.analyses.queue.getJobs(['prioritized', 'waiting', 'delayed']);
  t.is(waiting.length, 39);
  t.true(waiting.every(({ attemptsMade }) => attemptsMade === 0));
});

test.serial('the job of another owner runs between the chunks of a long recording', async (t) => {
  const { jobs, work } = await openJobService(t);
  const upload = async (id: string, owner: JobOwner, audio: Uint8Array) => {
    await jobs.uploadStore.append({ id, owner: owner.key, part: 'audio', index: 0, bytes: audio });
    const source = { kind: 'upload', sizes: { audio: audio.length, baselines: [] } } as const;
    await jobs.create(id, { ...requestOf(owner, ''), source });
  };
  await work();
  await upload('job_long', busy, lecture(1000));
  while ((await jobs.find(busy, 'job_long'))?.progress === null) await sleep(20);
  const before = (await jobs.find(busy, 'job_long'))?.progress?.analysed_s ?? 0;
  await upload('job_short', other, toneFile(2));
  while ((await jobs.find(other, 'job_short'))?.finished_at === null) await sleep(20);
  const long = await jobs.find(busy, 'job_long');
  t.is(long?.status, 'running');
  t.true((long?.progress?.analysed_s ?? 0) <= before + 600, `${long?.progress?.analysed_s} after ${before}`);
  while ((await jobs.find(busy, 'job_long'))?.finished_at === null) await sleep(50);
  const done = (await jobs.find(busy, 'job_long')) as StoredJob;
  t.is(done.status, 'done');
  const { result } = JSON.parse(await text(Readable.from(jobs.stream(done))));
  t.like(result, { audio: { duration_s: 1000 } });
});
