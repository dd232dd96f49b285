/** Job uploads through the upload thread: their keys in Redis, and their failures. */
import { type ClientRequest, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { contentType, multipart } from '../../../benchmarks/upload-body.ts';
import { parseConfig } from '../../../src/service/config.ts';
import { ServiceError } from '../../../src/service/errors.ts';
import type { FairBudget } from '../../../src/service/fair-share.ts';
import { readForm } from '../../../src/service/form.ts';
import { createByteBudget } from '../../../src/service/http/body.ts';
import { uploadJob } from '../../../src/service/http/job-upload.ts';
import { createCipher } from '../../../src/service/jobs/cipher.ts';
import { createUploadStore } from '../../../src/service/jobs/redis-uploads.ts';
import { chunkBytes, type UploadStore } from '../../../src/service/jobs/upload-store.ts';
import type { UploadedForm, UploadsOptions } from '../../../src/service/jobs/uploads.ts';
import { createUploads } from '../../../src/service/jobs/uploads.ts';
import { createLifecycle, type Lifecycle } from '../../../src/service/lifecycle.ts';
import { builtFile } from '../../support/built-file.ts';
import { listen } from '../../support/listening.ts';
import { type RedisServer, useRedis } from '../../support/redis.ts';

type Place = {
  readonly redis: RedisServer;
  readonly waiting: UploadStore;
  readonly held: FairBudget;
  readonly lifecycle: Lifecycle;
  /** Ids of the started uploads. */
  readonly ids: string[];
  begin(type?: string): Begun;
  send(body: Buffer, type?: string): Promise<UploadedForm | ServiceError | null>;
  keys(): Promise<readonly string[]>;
};

type Begun = { readonly client: ClientRequest; readonly end: Promise<UploadedForm | ServiceError | null> };

const secret = 'a secret of the tests, 32 characters or more';
const settings = parseConfig({}).jobs;
const maxBytes = 2 ** 23;

async function open(
  t: ExecutionContext,
  options: Partial<UploadsOptions> & { readonly deadlineMs?: number; readonly memoryBytes?: number } = {},
): Promise<Place> {
  const redis = await useRedis(t);
  const waiting = createUploadStore({ redis: redis.client, cipher: createCipher(secret), settings });
  const uploads = createUploads({ redisUrl: redis.url, secret, settings, store: waiting, ...options });
  const held = createByteBudget(options.memoryBytes ?? 2 ** 24);
  const lifecycle = createLifecycle();
  const ids: string[] = [];
  let ended: (end: Promise<UploadedForm | null>) => void = () => {};
  const port = await listen(t, (incoming, response) => {
    const id = `job_${ids.length}`;
    ids.push(id);
    const boundary = incoming.headers['content-type']?.split('boundary=')[1] ?? '';
    const { deadlineMs = 100_000 } = options;
    const limits = { maxBytes, deadlineAt: performance.now() + deadlineMs, shutdown: lifecycle.shutdown };
    const memory = held.open(['account']);
    const end = uploadJob(incoming, { id, owner: 'a', boundary, keep: true, uploads, memory, ...limits });
    ended(end);
    void end.catch(() => {}).then(() => response.end());
  });
  t.teardown(() => uploads.close());
  const begin = (type = contentType): Begun => {
    const headers = { 'Content-Type': type };
    const end = new Promise<UploadedForm | ServiceError | null>((resolve, reject) => {
      ended = (promise) =>
        promise.then(resolve, (error) => (error instanceof ServiceError ? resolve(error) : reject(error)));
    });
    const client = request({ port, host: '127.0.0.1', method: 'POST', headers, agent: false });
    client.on('error', () => {}).on('response', (response) => response.resume());
    return { client, end };
  };
  return {
    redis,
    waiting,
    held,
    lifecycle,
    ids,
    begin,
    keys: () => redis.client.keys('undertone:waiting:*'),
    send: (body, type) => {
      const { client, end } = begin(type);
      client.end(body);
      return end;
    },
  };
}

const bytesOf = (length: number, seed = 0) =>
  Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8) + seed) & 255));

function done(t: ExecutionContext, end: UploadedForm | ServiceError | null): UploadedForm {
  if (end === null || end instanceof ServiceError) throw t.fail(String(end)) ?? new Error();
  return end;
}

async function untilEmpty({ held, keys }: Place): Promise<void> {
  while (held.used() > 0 || (await keys()).length > 0) await sleep(10);
}

test.serial('recordings are read from Redis unchanged, and all bytes are released', async (t) => {
  const place = await open(t);
  const audio = bytesOf(3 * chunkBytes + 1);
  const baseline = bytesOf(chunkBytes, 7);
  const parts = [
    { name: 'audio', bytes: audio },
    { name: 'channel', bytes: '1' },
    { name: 'other', bytes: bytesOf(100_000) },
    { name: 'baseline', bytes: baseline },
    { name: 'baseline', bytes: 'two' },
    { name: 'callback', bytes: 'https://example.org/' },
  ];
  const { sizes, channel, callback } = done(t, await place.send(multipart(parts)));
  t.deepEqual(sizes, { audio: audio.length, baselines: [baseline.length, 3] });
  t.is(channel, 1);
  t.is(callback, 'https://example.org/');
  t.true(audio.equals((await place.waiting.read('job_0', 'audio', audio.length)) as Uint8Array));
  t.true(baseline.equals((await place.waiting.read('job_0', 'baseline', baseline.length)) as Uint8Array));
  t.is(Buffer.from((await place.waiting.read('job_0', 'baseline-2', 3)) as Uint8Array).toString(), 'two');
  t.is(place.held.used(), 0);
});

test.serial('an upload that the client, the deadline or the shutdown ends leaves nothing', async (t) => {
  const form = multipart([{ name: 'audio', bytes: bytesOf(2 * chunkBytes) }]);
  const half = form.subarray(0, chunkBytes + 100_000);
  const place = await open(t);
  const begin = async () => {
    const { client, end } = place.begin();
    client.write(half);
    while ((await place.keys()).length === 0) await sleep(10);
    t.true(place.held.used() > 0);
    return { client, end };
  };
  const left = await begin();
  left.client.destroy();
  t.is(await left.end, null);
  await untilEmpty(place);
  const short = await begin();
  short.client.end();
  t.like(await short.end, { code: 'invalid', problems: [{ reason: 'multipart' }] });
  await untilEmpty(place);
  const cut = await begin();
  place.lifecycle.abort();
  t.like(await cut.end, { code: 'shutting_down' });
  await untilEmpty(place);
  const slow = await open(t, { deadlineMs: 500 });
  const { client, end } = slow.begin();
  client.write(half);
  t.like(await end, { code: 'timeout' });
  await untilEmpty(slow);
});

test.serial('a body over the limit is refused as it arrives, in recordings and around them', async (t) => {
  const place = await open(t);
  const endless = [
    [{ name: 'audio', bytes: Buffer.alloc(maxBytes + 200_000) }],
    [{ name: 'other', bytes: Buffer.alloc(maxBytes + 2 ** 22 + 1000) }],
  ];
  for (const parts of endless) {
    const { client, end } = place.begin();
    client.write(multipart(parts).subarray(0, -100));
    t.like(await end, { code: 'too_large', problems: [{ reason: 'audio.too_large' }] });
    await untilEmpty(place);
  }
});

test.serial('an upload beyond the share of its account is refused', async (t) => {
  const place = await open(t, { memoryBytes: 2 ** 18 });
  t.like(await place.send(multipart([{ name: 'audio', bytes: Buffer.alloc(2 ** 21) }])), {
    code: 'overloaded',
  });
  await untilEmpty(place);
});

test.serial('an abort after the last byte leaves nothing in Redis', async (t) => {
  const place = await open(t);
  done(t, await place.send(multipart([{ name: 'audio', bytes: 'x' }])));
  await place.redis.client.flushall();
  place.redis.hang();
  const { client, end } = place.begin();
  const body = multipart([{ name: 'audio', bytes: Buffer.alloc(2 ** 21 + 8000) }]);
  client.write(body);
  while (place.held.used() <= 2 ** 21) await sleep(1);
  client.end(() => client.destroy());
  t.is(await end, null);
  place.redis.goOn();
  await untilEmpty(place);
});

test.serial('an unresponsive Redis pauses the client, and then fails its upload', async (t) => {
  const place = await open(t);
  done(t, await place.send(multipart([{ name: 'audio', bytes: 'x' }])));
  place.redis.hang();
  const { client, end } = place.begin();
  client.end(multipart([{ name: 'audio', bytes: Buffer.alloc(maxBytes) }]));
  let most = 0;
  const sample = setInterval(() => {
    most = Math.max(most, place.held.used());
  }, 1);
  const failure = await end;
  clearInterval(sample);
  t.true(most > 2 ** 20 && most < 2 ** 22, `${most} bytes held`);
  t.like(failure, { code: 'queue_unavailable', retryAfterSeconds: 5 });
  t.true((failure as ServiceError).cause instanceof Error);
  t.is(place.held.used(), 0);
  place.redis.goOn();
});

test.serial('a lost thread fails its uploads, leaves nothing, and is replaced', async (t) => {
  const causes: Error[] = [];
  const file = builtFile('crashing-upload-thread');
  const place = await open(t, { file, onLost: (cause) => causes.push(cause) });
  const audio = { name: 'audio', bytes: bytesOf(2 * chunkBytes) };
  const { client, end } = place.begin();
  client.write(multipart([audio]).subarray(0, chunkBytes + 100_000));
  while ((await place.keys()).length === 0) await sleep(10);
  client.write('END OF THE THREAD');
  client.end(Buffer.alloc(100_000));
  t.like(await end, { code: 'worker_lost' });
  t.is(causes.length, 1);
  await untilEmpty(place);
  t.is(done(t, await place.send(multipart([audio]))).sizes.audio, audio.bytes.length);
});

const seed = multipart([
  { name: 'audio', bytes: 'RIFF\0\0\0\0WAVE', type: 'audio/wav', filename: 'x.wav' },
  { name: 'channel', bytes: '1' },
  { name: 'baseline', bytes: 'at rest' },
]);
const marks = [
  '',
  '\r\n',
  '--',
  '\r\n--undertone-test-boundary',
  '\n',
  ':',
  '"',
  'audio',
  'channel',
  'text/html',
];
const mutation = fc.record({
  at: fc.nat(seed.length),
  remove: fc.nat(30),
  insert: fc.constantFrom(...marks).map((text) => Buffer.from(text)),
});

/** Sizes and channel, or the problems. */
function readAsAnalysis(body: Buffer): unknown {
  try {
    const { audio, baselines, channel } = readForm(body, 'undertone-test-boundary');
    return { sizes: { audio: audio.length, baselines: baselines.map(({ length }) => length) }, channel };
  } catch (error) {
    if (error instanceof ServiceError) return error.problems;
    throw error;
  }
}

test.serial('analyses and jobs agree on malformed forms', async (t) => {
  const place = await open(t);
  const property = fc.asyncProperty(fc.array(mutation, { maxLength: 3 }), async (steps) => {
    const body = steps.reduce<Buffer>(
      (before, { at, remove, insert }) =>
        Buffer.concat([before.subarray(0, at), insert, before.subarray(at + remove)]),
      seed,
    );
    const end = await place.send(body);
    const job = end instanceof ServiceError ? end.problems : { sizes: end?.sizes, channel: end?.channel };
    t.deepEqual(job, readAsAnalysis(body));
  });
  await fc.assert(property, { numRuns: Number(process.env.MUTATIONS ?? 300), seed: 1 });
});
