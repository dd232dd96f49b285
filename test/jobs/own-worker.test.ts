/** Jobs that the service takes itself: without Redis, and beside workers. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { contentType, multipart, type PartSpec, toneFile } from '../../benchmarks/upload-body.ts';
import { wavFile } from '../../benchmarks/wav.ts';
import { syntheticSignal } from '../../src/engine/loader.ts';
import { runCli } from '../support/cli.ts';
import { call } from '../support/http.ts';
import { type JobReply, jobOf, startJobStack } from '../support/jobs.ts';
import { listen } from '../support/listening.ts';
import { lecture } from '../support/recordings.ts';
import { makeToken, type Server, startServer } from '../support/server.ts';
import { until } from '../support/wait.ts';

const recording = wavFile(syntheticSignal(1, 8));
const audio = { name: 'audio', bytes: recording, type: 'audio/wav' } as const;

function clientOf({ port, token }: Server) {
  const headers = (own = token) => ({ Authorization: `Bearer ${own}` });
  const show = (id: string, own?: string) =>
    call(port, { path: `/v1/jobs/${id}?wait=1`, headers: headers(own) });
  return {
    show,
    post: (parts: readonly PartSpec[], more = {}, path = '/v1/jobs') =>
      call(port, {
        method: 'POST',
        path,
        headers: { 'Content-Type': contentType, ...headers(), ...more },
        body: multipart(parts),
      }),
    get: (path: string) => call(port, { path, headers: headers() }),
    remove: (id: string) => call(port, { method: 'DELETE', path: `/v1/jobs/${id}`, headers: headers() }),
    async ended(id: string, own?: string): Promise<JobReply> {
      let job = jobOf(await show(id, own));
      while (job.finished_at === null) job = jobOf(await show(id, own));
      return job;
    },
  };
}

test.serial('a job gets the report of /v1/analyze and a callback, with no Redis and no worker', async (t) => {
  const calls: JobReply[] = [];
  const port = await listen(t, async (request, response) => {
    if (request.method === 'GET') return response.end(recording);
    calls.push(JSON.parse(await text(request)));
    response.end();
  });
  const url = `http://127.0.0.1:${port}/`;
  const server = await startServer(t, {
    UNDERTONE_JOB_URL_PREFIXES: url,
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
  });
  const client = clientOf(server);
  const parts = [audio, { name: 'baseline', bytes: wavFile(syntheticSignal(2, 4)) }];
  const reply = await client.post([...parts, { name: 'callback', bytes: `${url}hook` }]);
  t.is(reply.status, 202, reply.body);
  t.like(jobOf(reply), { status: 'waiting', reason: null, result: null });
  const job = await client.ended(jobOf(reply).id);
  t.is(job.status, 'done', JSON.stringify(job));
  const direct = JSON.parse((await client.post(parts, {}, '/v1/analyze')).body);
  t.deepEqual(job.result, { ...direct, request_id: job.id });
  await until(() => calls.length === 1);
  t.deepEqual(calls[0]?.result, job.result);
  const body = JSON.stringify({ urls: [url] });
  const headers = { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' };
  const listed = await call(server.port, { method: 'POST', path: '/v1/jobs', headers, body });
  const fetched = await client.ended(JSON.parse(listed.body).jobs[0].id);
  t.is(fetched.status, 'done', JSON.stringify(fetched));
  t.is((await client.get('/ready')).body, '{}');
  t.regex((await client.get('/metrics')).body, /^undertone_job_processes 1$/m);
  for (const name of readdirSync(server.dataDir)) {
    const stored = readFileSync(join(server.dataDir, name));
    t.is(stored.indexOf(recording.subarray(4000, 4032)), -1, name);
  }
});

/** Several chunks. */
const longSeconds = 2000;

/** A long job that has analysed its first chunk. */
async function startLong(t: ExecutionContext, env: Readonly<Record<string, string>> = {}) {
  const server = await startServer(t, { ...env });
  const client = clientOf(server);
  const { id } = jobOf(await client.post([{ name: 'audio', bytes: lecture(longSeconds) }]));
  await until(async () => jobOf(await client.show(id)).progress !== null);
  return { server, client, id };
}

test.serial('a long job pauses for requests and for short jobs, of its own owner as well', async (t) => {
  const { server, client, id } = await startLong(t);
  const request = async () => (await client.post([audio], {}, '/v1/analyze')).status;
  const shortJob = async () => client.ended(jobOf(await client.post([audio])).id);
  const [short, ...statuses] = await Promise.all([shortJob(), request(), request()]);
  t.deepEqual(statuses, [200, 200]);
  t.is(short.status, 'done');
  t.is(jobOf(await client.show(id)).finished_at, null, 'they did not wait for its end');
  const other = makeToken(server, 'analyze:emotion,analyze:cognitive');
  t.is((await client.show(id, other)).status, 404);
  const job = await client.ended(id);
  t.like(job.result, { status: 'ok', audio: { duration_s: longSeconds } });
  t.like(job, { status: 'done', progress: null });
});

test.serial('a removed job ends, and its worker takes the next one', async (t) => {
  const { client, id } = await startLong(t);
  t.is((await client.remove(id)).status, 200);
  t.is((await client.show(id)).status, 404);
  t.is((await client.ended(jobOf(await client.post([audio])).id)).status, 'done');
});

test.serial('a restart loses what waits: GET says so, and its key is free', async (t) => {
  const url = `http://127.0.0.1:${await listen(t, () => {})}/`;
  const env = {
    UNDERTONE_WORKERS: '1',
    UNDERTONE_SHUTDOWN_S: '1',
    UNDERTONE_JOB_URL_PREFIXES: url,
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
  };
  const server = await startServer(t, env);
  const before = clientOf(server);
  const done = await before.ended(jobOf(await before.post([audio])).id);
  const list = (port: number) => {
    const sent = { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' };
    const headers = { ...sent, 'Idempotency-Key': 'k' };
    return call(port, { method: 'POST', path: '/v1/jobs', headers, body: JSON.stringify({ urls: [url] }) });
  };
  const lost = JSON.parse((await list(server.port)).body).jobs[0].id;
  t.is(JSON.parse((await list(server.port)).body).jobs[0].id, lost);
  await until(async () => jobOf(await before.show(lost)).status === 'running');
  t.deepEqual(await server.stop('SIGTERM'), { code: 0, signal: null });
  const again = await startServer(t, { ...env, UNDERTONE_DATA_DIR: server.dataDir });
  const after = clientOf({ ...again, token: server.token });
  const gone = await after.show(lost);
  t.is(gone.status, 404);
  t.like(JSON.parse(gone.body), {
    code: 'not_found',
    detail: 'The service restarted before this job ended, and its recording is gone; send it again',
  });
  t.deepEqual((await after.ended(done.id)).result, done.result);
  const ids = JSON.parse((await after.get('/v1/jobs')).body).jobs.map(({ id }: JobReply) => id);
  t.true(ids.includes(done.id));
  t.false(ids.includes(lost));
  t.not(JSON.parse((await list(again.port)).body).jobs[0].id, lost);
});

test.serial(
  'recordings above the share of the memory are refused, and nothing of them is kept',
  async (t) => {
    const server = await startServer(t, {
      UNDERTONE_JOB_BUFFER_BYTES: String(1.5 * recording.length),
    });
    const client = clientOf(server);
    const large = { name: 'audio', bytes: Buffer.concat([recording, Buffer.alloc(recording.length)]) };
    const refused = await client.post([large]);
    t.is(refused.status, 503, refused.body);
    t.is(JSON.parse(refused.body).code, 'overloaded');
    t.regex(refused.body, /UNDERTONE_JOB_BUFFER_BYTES/);
    for (let count = 0; count < 3; count++) {
      const { id } = jobOf(await client.post([audio]));
      t.is((await client.ended(id)).status, 'done');
    }
  },
);

test.serial('a service that takes no jobs itself needs Redis for them', async (t) => {
  const server = await startServer(t, { UNDERTONE_JOB_WORKERS: '0' });
  const client = clientOf(server);
  for (const reply of [
    await client.post([audio]),
    await client.show('job_x'),
    await client.remove('job_x'),
  ]) {
    t.is(reply.status, 501, reply.body);
    t.is(JSON.parse(reply.body).code, 'not_configured');
    t.regex(reply.body, /UNDERTONE_REDIS_URL/);
  }
  t.is((await client.post([{ name: 'audio', bytes: toneFile(1) }], {}, '/v1/analyze')).status, 200);
});

// With Redis the service takes jobs itself while no worker is registered.

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
