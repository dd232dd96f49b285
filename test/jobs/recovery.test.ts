/** A worker that dies in the middle of a long recording: another one finishes it, once. */
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import type { Running } from '../support/cli.ts';
import { type JobReply, type JobStack, jobOf, startJobStack } from '../support/jobs.ts';
import { listen } from '../support/listening.ts';
import { lecture } from '../support/recordings.ts';
import { until } from '../support/wait.ts';

/** Several chunks. */
const seconds = 600;

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

test.serial('a worker killed in the middle of a job is replaced, and the job ends once', async (t) => {
  const called: string[] = [];
  const port = await listen(t, (request, response) => {
    called.push(String(request.headers['webhook-id']));
    request.resume();
    response.end();
  });
  const callback = `http://127.0.0.1:${port}/`;
  const place = await startJobStack(t, { UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1' });
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
  t.like(ended.result, { request_id: id, status: 'ok', audio: { duration_s: seconds } });
  await second.logged(/callback sent/);
  t.is(second.stderr().match(/"job done"/g)?.length, 1);
  await sleep(500);
  t.deepEqual(called, [id]);
  t.deepEqual(await place.redis.client.keys('undertone:waiting:*'), []);
});

test.serial(
  'a worker that receives SIGTERM returns its job to the queue, and a removed job ends',
  async (t) => {
    const place = await startJobStack(t, { UNDERTONE_SHUTDOWN_S: '0.5' });
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
    const url = `http://127.0.0.1:${await listen(t, () => {})}/`;
    const place = await startJobStack(t, {
      UNDERTONE_JOB_URL_PREFIXES: url,
      UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
      UNDERTONE_SHUTDOWN_S: '600',
    });
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
