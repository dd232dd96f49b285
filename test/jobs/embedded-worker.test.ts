/** Jobs that the service takes itself: without Redis, and in parallel with workers. */
import test from 'ava';
import { toneFile, wavFile } from '../../benchmarks/upload-body.ts';
import { syntheticSignal } from '../../src/engine/golden.ts';
import { readAll } from '../support/folder.ts';
import { call } from '../support/http.ts';
import {
  createJobClient,
  type JobClient,
  type JobReply,
  jobOf,
  openJobWeb,
  startJobStack,
} from '../support/jobs.ts';
import { lecture } from '../support/recordings.ts';
import { makeToken, startServer } from '../support/server.ts';
import { share } from '../support/share.ts';
import { until } from '../support/wait.ts';

const recording = wavFile(syntheticSignal(1, 8));
const audio = { name: 'audio', bytes: recording, type: 'audio/wav' } as const;

/** One service without Redis for the tests up to the restart. */
const own = share(test, async (t) => {
  const { url, env, calls } = await openJobWeb(t, (_, response) => response.end(recording));
  const server = await startServer(t, env);
  return { server, client: createJobClient(server), url, calls };
});

test.serial('a job gets the report of /v1/analyze and a callback, with no Redis and no worker', async (t) => {
  const { server, client, url, calls } = own();
  const parts = [audio, { name: 'baseline', bytes: wavFile(syntheticSignal(2, 4)) }];
  const reply = await client.upload([...parts, { name: 'callback', bytes: `${url}hook` }]);
  t.is(reply.status, 202, reply.body);
  t.like(jobOf(reply), { status: 'waiting', reason: null, result: null });
  const job = await client.ended(jobOf(reply).id);
  t.is(job.status, 'done', JSON.stringify(job));
  const direct = JSON.parse((await client.upload(parts, {}, '/v1/analyze')).body);
  t.deepEqual(job.result, { ...direct, request_id: job.id });
  await until(() => calls.length === 1);
  t.deepEqual(calls[0]?.result, job.result);
  const listed = await client.list({ urls: [url] });
  const fetched = await client.ended(JSON.parse(listed.body).jobs[0].id);
  t.is(fetched.status, 'done', JSON.stringify(fetched));
  t.is((await client.get('/ready')).body, '{}');
  t.regex((await client.get('/metrics')).body, /^undertone_job_processes 1$/m);
  for (const { name, bytes } of readAll(server.dataDir))
    t.is(bytes.indexOf(recording.subarray(4000, 4032)), -1, name);
});

/** Several chunks. */
const longSeconds = 1000;

/** @returns the id of a long job that has analysed its first chunk */
async function startLong({ upload, show }: JobClient): Promise<string> {
  const { id } = jobOf(await upload([{ name: 'audio', bytes: lecture(longSeconds) }]));
  await until(async () => jobOf(await show(id)).progress !== null);
  return id;
}

test.serial('a long job pauses for requests and for short jobs, of its own owner as well', async (t) => {
  const { server, client } = own();
  const id = await startLong(client);
  const request = async () => (await client.upload([audio], {}, '/v1/analyze')).status;
  const shortJob = async () => client.ended(jobOf(await client.upload([audio])).id);
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
  const { client } = own();
  const id = await startLong(client);
  t.is((await client.remove(id)).status, 200);
  t.is((await client.show(id)).status, 404);
  t.is((await client.ended(jobOf(await client.upload([audio])).id)).status, 'done');
});

test.serial('a restart loses what waits: GET says so, and its key is free', async (t) => {
  const { url, env: web } = await openJobWeb(t);
  const env = { ...web, UNDERTONE_SHUTDOWN_S: '1' };
  const server = await startServer(t, env);
  const before = createJobClient(server);
  const done = await before.ended(jobOf(await before.upload([audio])).id);
  const list = ({ list }: JobClient) => list({ urls: [url] }, { 'Idempotency-Key': 'k' });
  const lost = JSON.parse((await list(before)).body).jobs[0].id;
  t.is(JSON.parse((await list(before)).body).jobs[0].id, lost);
  await until(async () => jobOf(await before.show(lost)).status === 'running');
  t.deepEqual(await server.stop('SIGTERM'), { code: 0, signal: null });
  const again = await startServer(t, { ...env, UNDERTONE_DATA_DIR: server.dataDir });
  const after = createJobClient(again);
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
  t.not(JSON.parse((await list(after)).body).jobs[0].id, lost);
});

test.serial(
  'a recording that can never wait in the memory is refused, and nothing of it is kept',
  async (t) => {
    const server = await startServer(t, {
      UNDERTONE_JOB_BUFFER_BYTES: String(3 * recording.length),
    });
    const client = createJobClient(server);
    const large = { name: 'audio', bytes: Buffer.concat([recording, Buffer.alloc(recording.length)]) };
    const refused = await client.upload([large]);
    t.is(refused.status, 413, refused.body);
    t.is(JSON.parse(refused.body).detail[0].type, 'value_error.audio.too_large');
    t.regex(refused.body, /half of UNDERTONE_JOB_BUFFER_BYTES/);
    for (let count = 0; count < 3; count++) {
      const { id } = jobOf(await client.upload([audio]));
      t.is((await client.ended(id)).status, 'done');
    }
  },
);

test.serial('a service that takes no jobs itself needs Redis for them', async (t) => {
  const server = await startServer(t, { UNDERTONE_JOB_WORKERS: '0' });
  const client = createJobClient(server);
  for (const reply of [
    await client.upload([audio]),
    await client.show('job_x'),
    await client.remove('job_x'),
  ]) {
    t.is(reply.status, 501, reply.body);
    t.is(JSON.parse(reply.body).code, 'not_configured');
    t.regex(reply.body, /UNDERTONE_REDIS_URL/);
  }
  t.is((await client.upload([{ name: 'audio', bytes: toneFile(1) }], {}, '/v1/analyze')).status, 200);
});

// With Redis the service takes jobs itself while no worker is registered.

test.serial('the service takes jobs while no worker is there, and ends without its Redis', async (t) => {
  const place = await startJobStack(t, { UNDERTONE_JOB_WORKERS: '1', UNDERTONE_SHUTDOWN_S: '3' });
  const processes = async () => {
    const { body } = await call(place.server.port, { path: '/metrics' });
    return Number(/^undertone_job_processes (\d+)$/m.exec(body)?.[1]);
  };
  const analyse = async () => (await place.ended(jobOf(await place.upload([audio])).id)).status;
  t.is(await analyse(), 'done');
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
  await place.redis.kill();
  t.deepEqual(await place.server.stop('SIGTERM'), { code: 0, signal: null });
});
