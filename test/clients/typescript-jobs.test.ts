/** Jobs of the TypeScript client, with the service, Redis, a worker and a receiver of callbacks. */

import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import test from 'ava';
import {
  createClient,
  ForbiddenError,
  type Job,
  type JobEvent,
  JobFailedError,
  NotFoundError,
  RateLimitedError,
  UnauthenticatedError,
  UnavailableError,
  ValidationError,
  WebhookError,
} from '../../clients/typescript/src/index.ts';
import { verifyWebhook } from '../../clients/typescript/src/webhook.ts';
import { startJobStack } from '../support/jobs.ts';
import { listen } from '../support/listening.ts';
import { startScriptedServer } from '../support/scripted-server.ts';
import { makeToken, startServer } from '../support/server.ts';
import { until } from '../support/wait.ts';

const path = 'examples/sample.wav';
const bytes = readFileSync(path);

type Received = { readonly headers: IncomingHttpHeaders; readonly body: string };

async function startStack(t: Parameters<typeof startJobStack>[0]) {
  const received: Received[] = [];
  const port = await listen(t, async (request, response) => {
    if (request.method === 'GET') return response.end(bytes);
    received.push({ headers: request.headers, body: await text(request) });
    response.end();
  });
  const address = `http://127.0.0.1:${port}`;
  const stack = await startJobStack(t, {
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
    UNDERTONE_JOB_URL_PREFIXES: `${address}/`,
  });
  return { ...stack, received, address, client: createClient(stack.server) };
}

test.serial('a job is submitted, waited for, listed and deleted; its callback is verified', async (t) => {
  const { address, client, received, server, startWorker } = await startStack(t);
  const first = await client.jobs.submit(path, {
    callback: `${address}/hook`,
    receipt: true,
    metadata: { order: 'é' },
  });
  const second = await client.jobs.submit(bytes, { idempotencyKey: 'one' });
  t.is((await client.jobs.submit(bytes, { idempotencyKey: 'one' })).id, second.id);
  t.is(first.status, 'waiting');
  const listed = await collect(client.jobs.list());
  t.deepEqual(new Set(listed.map(({ id }) => id)), new Set([second.id, first.id]));
  await client.jobs.cancel(second.id);
  await t.throwsAsync(client.jobs.wait(second.id), { instanceOf: NotFoundError });
  const states: string[] = [];
  const waiting = client.jobs.wait(first.id, { onProgress: ({ status }) => states.push(status) });
  await startWorker();
  const report = await waiting;
  const direct = await client.analyze(path);
  const { receipt, ...rest } = report;
  t.is(receipt?.report_sha256.length, 64);
  t.deepEqual({ ...rest, request_id: '' }, { ...direct, request_id: '' });
  t.is(states[0], 'waiting');
  t.is(states.at(-1), 'done');
  await until(() => received.length > 0);
  const [{ headers, body }] = received as [Received];
  const secret = first.callback_secret ?? '';
  const done = await client.jobs.get(first.id, { waitSeconds: 1 });
  t.deepEqual(done.metadata, { order: 'é' });
  const event = { type: 'job.done', timestamp: done.finished_at };
  t.deepEqual(verifyWebhook(body, headers, secret), { ...done, ...event } as JobEvent);
  t.like(verifyWebhook(Buffer.from(body), new Headers(headers as Record<string, string>), secret), {
    id: first.id,
  });
  const old = { ...headers, 'webhook-timestamp': '1700000000' };
  for (const wrong of [
    () => verifyWebhook(`${body} `, headers, secret),
    () => verifyWebhook(body, headers, 'whsec_AAAA'),
    () => verifyWebhook(body, headers, ''),
    () => verifyWebhook(body, old, secret),
    () => verifyWebhook(body, {}, secret),
  ]) {
    t.throws(wrong, { instanceOf: WebhookError });
  }
  const usage = await client.usage();
  t.is(usage.token.name, 'UNDERTONE_TOKEN');
  t.true((usage.days[0]?.audio_s ?? 0) > 0);
  const narrow = createClient({ ...server, token: makeToken(server, 'analyze:emotion', 'narrow') });
  await t.throwsAsync(narrow.jobs.submit(path), { instanceOf: ForbiddenError });
});

test.serial('a list of URLs is one job each; an invalid recording fails with its reasons', async (t) => {
  const { address, client, startWorker } = await startStack(t);
  const { jobs } = await client.jobs.submitUrls([`${address}/a.wav`, `${address}/b.wav`], {
    receipt: true,
    metadata: { order: '7' },
  });
  t.deepEqual(jobs[1]?.metadata, { order: '7' });
  const broken = await client.jobs.submit(new Blob(['no sound']));
  await startWorker();
  const reports = await Promise.all(jobs.map(({ id }) => client.jobs.wait(id)));
  t.deepEqual(
    reports.map(({ request_id }) => request_id),
    jobs.map(({ id }: Job) => id),
  );
  t.true(reports.every(({ receipt }) => receipt !== undefined));
  const failed = await t.throwsAsync(client.jobs.wait(broken.id), { instanceOf: JobFailedError });
  t.like(failed, { code: null, job: { id: broken.id, status: 'failed' } });
  t.is(failed.items[0]?.type, 'value_error.audio.unsupported');
  await t.throwsAsync(client.jobs.submitUrls(['http://elsewhere.example/a']), {
    instanceOf: ValidationError,
  });
});

test('a submission that is retried has one key; waiting ends with its signal', async (t) => {
  const job = { id: 'job_1', status: 'running', progress: null, result: null, error: null };
  const keys: unknown[] = [];
  const port = await listen(t, (request, response) => {
    keys.push(request.headers['idempotency-key']);
    request.resume();
    if (keys.length === 1) return request.socket.destroy();
    response.writeHead(202, { 'Content-Type': 'application/json' }).end(JSON.stringify(job));
  });
  const client = createClient({ url: `http://127.0.0.1:${port}`, token: 'any' });
  t.is((await client.jobs.submit(bytes)).id, 'job_1');
  t.is(keys.length, 2);
  t.truthy(keys[0]);
  t.is(keys[0], keys[1]);
  const stop = new AbortController();
  const onProgress = () => stop.abort(new Error('enough'));
  const waiting = client.jobs.wait('job_1', { onProgress, signal: stop.signal });
  await t.throwsAsync(waiting, { message: 'enough' });
});

test('each refusal has a class of its own', async (t) => {
  const body = { detail: 'no', code: 'overloaded', request_id: 'id-1' };
  const classes = {
    401: UnauthenticatedError,
    403: ForbiddenError,
    429: RateLimitedError,
    503: UnavailableError,
  };
  for (const [status, instanceOf] of Object.entries(classes)) {
    const headers = { 'Retry-After': '7' };
    const { url } = await startScriptedServer(t, [{ status: Number(status), body, headers }]);
    const client = createClient({ url, token: 'any', retries: 0 });
    const error = await t.throwsAsync(client.emotion(bytes), { instanceOf });
    t.is(error?.retryAfterSeconds, 7);
  }
});

test('Retry-After is seconds or a date, and at least 1 s and at most an hour', async (t) => {
  const soon = new Date(Date.now() + 600_000).toUTCString();
  for (const [value, least, most] of [
    ['0', 1, 1],
    ['2147484', 3600, 3600],
    ['9'.repeat(400), 3600, 3600],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 1, 1],
    [soon, 1, 600],
    ['soon', null, null],
  ] as const) {
    const { url } = await startScriptedServer(t, [{ status: 429, headers: { 'Retry-After': value } }]);
    const error = await t.throwsAsync(createClient({ url, token: 'any' }).emotion(bytes), {
      instanceOf: RateLimitedError,
    });
    const seconds = error?.retryAfterSeconds ?? null;
    if (least === null) t.is(seconds, null);
    else t.true(seconds !== null && seconds >= least && seconds <= most, `${value}: ${seconds}`);
  }
});

test.serial(
  'a recording above the limits of a request is analysed as a job, of which nothing stays',
  async (t) => {
    for (const limit of [{ UNDERTONE_MAX_SECONDS: '20' }, { UNDERTONE_MAX_UPLOAD_BYTES: '200000' }]) {
      const server = await startServer(t, { ...limit });
      const client = createClient(server);
      const audio = new Blob([bytes]).stream();
      const report = await client.analyze(audio as ReadableStream<Uint8Array>);
      t.like(report, { status: 'ok', audio: { duration_s: 39.5453 } });
      t.deepEqual(await collect(client.jobs.list()), []);
      const stop = new AbortController();
      const aborted = client.analyze(path, { signal: stop.signal });
      await until(async () => (await collect(client.jobs.list())).length > 0);
      stop.abort();
      await t.throwsAsync(aborted, { any: true });
      await until(async () => (await collect(client.jobs.list())).length === 0);
      const narrow = createClient({ url: server.url, token: makeToken(server, 'analyze:emotion') });
      await t.throwsAsync(narrow.analyze(path), { instanceOf: ForbiddenError });
    }
  },
);

test.serial('where the service takes no jobs the limit is the error', async (t) => {
  const server = await startServer(t, { UNDERTONE_MAX_SECONDS: '20', UNDERTONE_JOB_WORKERS: '0' });
  await t.throwsAsync(createClient(server).analyze(path), {
    instanceOf: ValidationError,
    message: /Expected at most 20 s/,
  });
});

test('waiting goes on after a rate limit', async (t) => {
  const limited = { status: 429, headers: { 'Retry-After': '1' }, body: { code: 'rate_limited' } };
  const done = { id: 'job_1', status: 'done', progress: null, result: { status: 'ok' }, error: null };
  const { url, lengths } = await startScriptedServer(t, [limited, { status: 200, body: done }]);
  t.deepEqual(await createClient({ url, token: 'any' }).jobs.wait('job_1'), { status: 'ok' } as never);
  t.is(lengths.length, 2);
});

test('a retried cancel that finds no job has cancelled it', async (t) => {
  const gone = { status: 404, body: { code: 'not_found', detail: 'No such job' } };
  const lost = await startScriptedServer(t, [{ status: null }, gone]);
  await createClient({ url: lost.url, token: 'any' }).jobs.cancel('job_1');
  t.is(lost.lengths.length, 2);
  const first = await startScriptedServer(t, [gone]);
  await t.throwsAsync(createClient({ url: first.url, token: 'any' }).jobs.cancel('job_1'), {
    instanceOf: NotFoundError,
  });
  const get = await startScriptedServer(t, [{ status: null }, gone]);
  await t.throwsAsync(createClient({ url: get.url, token: 'any' }).jobs.get('job_1'), {
    instanceOf: NotFoundError,
  });
});

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
