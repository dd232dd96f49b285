/** Jobs from the upload to the result: the built service, a real Redis, real workers. */
import test from 'ava';
import { contentType, multipart, wavFile } from '../../benchmarks/upload-body.ts';
import { syntheticSignal } from '../../src/engine/golden.ts';
import { samplesOf } from '../support/analysis.ts';
import { type Running, runCli } from '../support/cli.ts';
import { makeFolder, readAll } from '../support/folder.ts';
import { call } from '../support/http.ts';
import { type JobReply, jobOf, openJobWeb, startJobStack, startWorker } from '../support/jobs.ts';
import { sharedReceiptKeys } from '../support/receipt-keys.ts';
import { useRedis } from '../support/redis.ts';
import { makeToken, spawnServer } from '../support/server.ts';
import { share } from '../support/share.ts';
import { until } from '../support/wait.ts';

const recording = wavFile(syntheticSignal(1, 8));
const audio = { name: 'audio', bytes: recording, type: 'audio/wav' } as const;

/** One service for the tests up to the one in which its worker ends; the first ones have no worker. */
const stack = share(test, async (t) => {
  const web = await openJobWeb(t, (_, response) => response.end(recording));
  return { ...(await startJobStack(t, web.env)), web };
});
const started: Running[] = [];

test.serial('a job belongs to the token that made it', async (t) => {
  const place = stack();
  const both = 'analyze:emotion,analyze:cognitive';
  const other = makeToken(place.server, both);
  const { id } = jobOf(await place.upload([audio]));
  for (const reply of [
    await place.show(id, other),
    await place.remove(id, other),
    await place.show('job_x'),
  ]) {
    t.is(reply.status, 404, reply.body);
    t.is(JSON.parse(reply.body).code, 'not_found');
  }
  t.is((await place.show(id)).status, 200);
  const removed = await place.remove(id);
  t.is(removed.status, 200);
  t.is(removed.body, '{}');
  t.is((await place.show(id)).status, 404);
  t.is((await place.remove(id)).status, 404);
  t.deepEqual(await place.redis.client.keys('undertone:waiting:*'), []);
  const none = await call(place.server.port, { path: `/v1/jobs/${id}` });
  t.is(none.status, 401);
});

test.serial('the recordings and the metadata of a job are encrypted in Redis', async (t) => {
  const place = stack();
  const metadata = { order: 'confidential-7', note: 'é\u0000"' };
  const baseline = { name: 'baseline', bytes: recording };
  const reply = await place.upload([
    { name: 'metadata', bytes: JSON.stringify(metadata) },
    audio,
    baseline,
    baseline,
    { name: 'callback', bytes: `${place.web.url}hook` },
  ]);
  t.is(reply.status, 202, reply.body);
  const job = jobOf(reply);
  t.is(reply.headers.location, `/v1/jobs/${job.id}`);
  t.like(job, { status: 'waiting', finished_at: null, result: null, error: null, metadata });
  t.regex(job.id, /^job_[0-9A-Za-z]{20}$/);

  const kept = await place.redis.dump();
  t.true(kept.length > recording.length);
  for (const plain of ['RIFF', 'WAVEfmt', place.server.token, 'upload', recording.subarray(4000, 4032)]) {
    t.is(kept.indexOf(plain), -1, `${String(plain).slice(0, 10)} lies open in Redis`);
  }
  for (const part of ['audio', 'baseline', 'baseline-2']) {
    const left = await place.redis.client.ttl(`undertone:waiting:${job.id}:${part}`);
    t.true(left > 21_000 && left <= 21_600, `${part}: ${left}`);
  }
  const figures = await call(place.server.port, { path: '/metrics' });
  t.regex(figures.body, /^undertone_jobs_waiting 1$/m);
  t.regex(figures.body, /^undertone_jobs_running 0$/m);
  t.regex(figures.body, /^undertone_jobs_oldest_seconds [0-9.]+$/m);

  const longest = { a: 'é'.repeat(1020) };
  const { url } = place.web;
  const { jobs } = JSON.parse((await place.list({ urls: [url, url], metadata: longest })).body);
  t.deepEqual(jobs[1].metadata, longest);
  const list = JSON.parse((await place.get('/v1/jobs')).body).jobs;
  t.deepEqual(list[2], withoutResult(jobOf(await place.show(job.id))));
  const stored = readAll(place.server.dataDir).map(({ bytes }) => bytes);
  t.true(stored.some((bytes) => bytes.includes(job.id)));
  for (const bytes of [await place.redis.dump(), ...stored]) t.false(bytes.includes('confidential-7'));
});

test.serial(
  'jobs that no process takes say so, doctor as well, and end once a worker is there',
  async (t) => {
    const place = stack();
    const { calls } = place.web;
    const { id, reason, metadata } = jobOf(await place.upload([audio]));
    t.is(reason, 'no_worker');
    t.deepEqual(metadata, {});
    t.is(jobOf(await place.show(id)).reason, 'no_worker');
    const { jobs } = JSON.parse((await place.get('/v1/jobs')).body);
    t.is(jobs[0].reason, 'no_worker');
    t.deepEqual(JSON.parse((await place.get('/ready')).body), { jobs: 'no_worker' });
    await until(() => place.server.stderr().includes('no process takes jobs'));
    const env = {
      UNDERTONE_REDIS_URL: place.redis.url,
      UNDERTONE_DATA_DIR: place.server.dataDir,
      UNDERTONE_JOB_WORKERS: '0',
    };
    t.regex((await runCli(['doctor'], { env })).stdout, /warning +redis.*no process takes jobs/);
    const worker = await place.startWorker();
    started.push(worker);
    t.like(await place.ended(id), { status: 'done', reason: null });
    await until(async () => (await place.get('/ready')).body === '{}');
    const [, , listed, uploaded] = jobs as readonly JobReply[];
    t.deepEqual((await place.ended(String(listed?.id))).metadata, { a: 'é'.repeat(1020) });
    const done = await place.ended(String(uploaded?.id));
    t.is(done.metadata.order, 'confidential-7');
    await until(() => calls.length === 1);
    t.deepEqual(calls[0]?.metadata, done.metadata);
    for (const log of [worker.stderr(), worker.stdout(), place.server.stderr(), place.server.stdout()]) {
      t.false(log.includes('confidential-7'));
    }
  },
);

test.serial('a job gets the report of /v1/analyze, and leaves nothing behind', async (t) => {
  const place = stack();
  const baseline = { name: 'baseline', bytes: wavFile(samplesOf('speech.wav')) };
  const channel = { name: 'channel', bytes: '0' };
  const second = { ...baseline, bytes: wavFile(samplesOf('speech.wav').subarray(0, 16_000 * 4)) };
  const parts = [audio, baseline, channel, second];
  const begun = jobOf(await place.upload([...parts, { name: 'chanels', bytes: 'ignored' }]));
  const job = await place.ended(begun.id);
  t.is(job.status, 'done', JSON.stringify(job));
  const direct = await place.upload(parts, {}, '/v1/analyze');
  const ignored = [{ name: 'chanels', msg: 'Unknown part: did you mean `channels`?' }];
  t.deepEqual(job.result, { ...JSON.parse(direct.body), request_id: begun.id, ignored });
  const keptMs = Date.parse(job.expires_at) - Date.parse(job.finished_at ?? '');
  t.true(Math.abs(keptMs - 86_400_000) < 60_000, `${keptMs}`);
  t.deepEqual(await place.redis.client.keys('undertone:waiting:*'), []);
  await until(async () => (await place.redis.client.keys(`*${begun.id}*`)).length === 0);
});

const withoutResult = ({ result: _, error: __, ...summary }: JobReply) => summary;

test.serial('a job of two channels, or of several speakers, gets the report of /v1/analyze', async (t) => {
  const place = stack();
  const voice = samplesOf('speech.wav');
  const stereo = new Float32Array(2 * voice.length);
  voice.forEach((sample, index) => {
    stereo[2 * index] = sample;
    stereo[2 * (voice.length - 1 - index) + 1] = sample / 2;
  });
  const [half, end] = [voice.length / 32_000, voice.length / 16_000];
  const turns = [
    { start: 0, end: half, speaker: 'A' },
    { start: half, end, speaker: 'B' },
  ];
  const bodies = [
    [
      { name: 'audio', bytes: wavFile(stereo, 16_000, 2) },
      { name: 'channels', bytes: 'split' },
    ],
    [
      { name: 'audio', bytes: wavFile(voice) },
      { name: 'segments', bytes: JSON.stringify(turns) },
    ],
    [
      { name: 'audio', bytes: wavFile(voice) },
      { name: 'speakers', bytes: '2' },
    ],
  ];
  for (const parts of bodies) {
    const { id } = jobOf(await place.upload(parts));
    const job = await place.ended(id);
    t.is(job.status, 'done', JSON.stringify(job));
    const direct = await place.upload(parts, {}, '/v1/analyze');
    t.is(direct.status, 200, direct.body);
    const { request_id: requestId } = JSON.parse(direct.body);
    t.deepEqual(job.result, JSON.parse(direct.body.replaceAll(requestId, id)));
  }
});

test.serial('a worker without a job ends at SIGTERM, and has logged no error', async (t) => {
  const [worker] = started;
  t.false(worker?.stderr().includes('"level":50'));
  t.deepEqual(await worker?.stop('SIGTERM'), { code: 0, signal: null });
});

const limited = share(test, (t) =>
  startJobStack(t, { UNDERTONE_JOB_MAX_BYTES: '100000', UNDERTONE_JOB_MAX_SECONDS: '2' }),
);

test.serial('an invalid job is refused and leaves nothing in Redis', async (t) => {
  const place = limited();
  const typeOf = (body: string) => JSON.parse(body).detail[0].type;
  const refused = async (status: number, type: string, parts: Parameters<typeof place.upload>[0]) => {
    const reply = await place.upload(parts);
    t.is(reply.status, status, reply.body);
    t.is(typeOf(reply.body), type);
  };
  await refused(422, 'value_error.missing', [{ name: 'file', bytes: 'x' }]);
  await refused(422, 'value_error.audio.empty', [{ name: 'audio', bytes: '' }]);
  await refused(422, 'value_error.audio.content_type', [{ ...audio, type: 'application/pdf' }]);
  await refused(413, 'value_error.audio.too_large', [audio]);
  const small = { name: 'audio', bytes: recording.subarray(0, 50_000) };
  await refused(422, 'value_error.audio.channel', [small, { name: 'channel', bytes: 'left' }]);
  for (const callback of ['http://example.org/', 'https://127.0.0.1/', 'https://localhost/', 'nowhere']) {
    await refused(422, 'value_error.callback', [small, { name: 'callback', bytes: callback }]);
  }
  for (const metadata of [
    '',
    'order-7',
    '["a"]',
    'null',
    '{"a":1}',
    JSON.stringify({ a: 'x'.repeat(2041) }),
  ]) {
    await refused(422, 'value_error.metadata', [small, { name: 'metadata', bytes: metadata }]);
  }
  await refused(422, 'value_error.receipt', [small, { name: 'receipt', bytes: 'yes' }]);
  const headers = { Authorization: `Bearer ${place.server.token}`, 'Content-Type': contentType };
  const cut = multipart([small]).subarray(0, 20_000);
  const broken = await call(place.server.port, { method: 'POST', path: '/v1/jobs', headers, body: cut });
  t.is(broken.status, 422, broken.body);
  t.is(typeOf(broken.body), 'value_error.multipart');
  const urls = ['https://example.org/a.wav'];
  const negative = await place.list({ urls, channel: -1 });
  t.deepEqual([negative.status, typeOf(negative.body)], [422, 'value_error.audio.channel']);
  for (const metadata of [null, ['a'], { a: null }, { a: 'é'.repeat(1021) }]) {
    const reply = await place.list({ urls, metadata });
    t.deepEqual([reply.status, typeOf(reply.body)], [422, 'value_error.metadata']);
  }
  const narrow = makeToken(place.server, 'analyze:emotion');
  t.is((await place.upload([small], { Authorization: `Bearer ${narrow}` })).status, 403);
  t.is((await place.list({ urls })).status, 501);
  t.deepEqual(await place.redis.client.keys('undertone:waiting:*'), []);
});

test.serial('a recording that cannot be analysed is a failed job with the reason', async (t) => {
  const place = limited();
  await place.startWorker();
  const long = jobOf(await place.upload([{ ...audio, bytes: wavFile(syntheticSignal(1, 3)) }]));
  const text = jobOf(await place.upload([{ name: 'audio', bytes: 'no recording at all' }]));
  t.like(await place.ended(long.id), {
    status: 'failed',
    result: null,
    error: {
      detail: [
        {
          loc: ['body', 'audio'],
          msg: 'Expected at most 2 s of audio, got more: UNDERTONE_JOB_MAX_SECONDS sets the limit',
          type: 'value_error.audio.too_long',
        },
      ],
    },
  });
  const { error } = await place.ended(text.id);
  t.like(error, { detail: [{ type: 'value_error.audio.unsupported' }] });
});

test.serial('a full queue is a 503, and a recording that waited too long is a failed job', async (t) => {
  const place = await startJobStack(t, { UNDERTONE_JOB_QUEUE: '1', UNDERTONE_JOB_AUDIO_S: '1' });
  const { id } = jobOf(await place.upload([audio]));
  const full = await place.upload([audio]);
  t.is(full.status, 503);
  t.is(JSON.parse(full.body).code, 'overloaded');
  t.truthy(full.headers['retry-after']);
  await until(async () => (await place.redis.client.keys('undertone:waiting:*')).length === 0);
  await place.startWorker();
  t.like(await place.ended(id), { status: 'failed', error: { code: 'deadline' } });
});

test.serial('a Redis that persists is refused at the start', async (t) => {
  for (const settings of [
    ['--save', '60 1', '--appendonly', 'no'],
    ['--save', '', '--appendonly', 'yes'],
  ]) {
    const redis = await useRedis(t, settings);
    const keys = await sharedReceiptKeys();
    const server = await spawnServer(t, { ...keys, UNDERTONE_REDIS_URL: redis.url });
    t.deepEqual(await server.exit, { code: 2, signal: null });
    t.regex(server.stderr(), /^Expected a Redis without persistence at `UNDERTONE_REDIS_URL`/m);
  }
});

test.serial(
  'a service with another secret is refused while one with the same database and Redis runs',
  async (t) => {
    const place = await startJobStack(t, { UNDERTONE_SECRET: 'a secret of thirty-two characters, or more' });
    const other = await spawnServer(t, {
      ...(await sharedReceiptKeys()),
      UNDERTONE_REDIS_URL: place.redis.url,
      UNDERTONE_DATA_DIR: place.server.dataDir,
      UNDERTONE_SECRET: 'another secret of thirty-two characters',
    });
    t.deepEqual(await other.exit, { code: 2, signal: null });
    t.regex(other.stderr(), /^Expected the `UNDERTONE_SECRET` of the other services/m);
  },
);

const secret = { UNDERTONE_SECRET: 'a secret that service and workers have, and more' };
const shared = share(test, (t) => startJobStack(t, secret));

test.serial(
  'while Redis is unreachable jobs are a 503 and everything else works; lost jobs fail',
  async (t) => {
    const place = shared();
    const { id } = jobOf(await place.upload([audio], { 'Idempotency-Key': 'k' }));
    await place.redis.kill();
    for (const reply of [await place.upload([audio]), await place.show(id), await place.remove(id)]) {
      t.is(reply.status, 503, reply.body);
      t.is(JSON.parse(reply.body).code, 'queue_unavailable');
      t.is(reply.headers['retry-after'], '5');
    }
    t.is((await place.upload([audio], {}, '/v1/analyze')).status, 200);
    t.regex((await call(place.server.port, { path: '/metrics' })).body, /^undertone_jobs_waiting Nan$/im);
    await place.redis.start();
    const lost = await place.ended(id);
    t.like(lost, { status: 'failed', error: { code: 'queue_unavailable' } });
    t.not(jobOf(await place.upload([audio], { 'Idempotency-Key': 'k' })).id, id);
  },
);

test.serial('a worker with another database leaves the jobs in the queue and logs an error', async (t) => {
  const place = shared();
  const settings = { ...secret, ...(await sharedReceiptKeys()), UNDERTONE_WORKERS: '1' };
  const wrong = await startWorker(t, {
    ...settings,
    UNDERTONE_REDIS_URL: place.redis.url,
    UNDERTONE_DATA_DIR: makeFolder(),
  });
  const { id } = jobOf(await place.upload([audio]));
  await wrong.logged(
    /"level":50.*Expected the database of the service for `UNDERTONE_DATABASE_URL`, got another/,
  );
  t.is(jobOf(await place.show(id)).finished_at, null);
  await place.startWorker();
  t.is((await place.ended(id)).status, 'done');
});
