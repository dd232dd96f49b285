/** Bodies as they arrive: gathered, counted, ended by their rate, deadline or client. */

import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { FairBudget } from '../../../src/service/fair-share.ts';
import {
  type BodyLimits,
  createByteBudget,
  guardBody,
  readBody,
  type Upload,
  waitForBody,
} from '../../../src/service/http/body.ts';
import { chunksTooSmall, GatheredRequest } from '../../../src/service/http/request.ts';
import { createHttpServer } from '../../../src/service/http/server.ts';
import { createLifecycle, type Lifecycle } from '../../../src/service/lifecycle.ts';
import { type Wire, wire } from '../../support/http.ts';
import { listen } from '../../support/listening.ts';
import { ceilingMs } from '../../support/wait.ts';

const everyMs = 200;

type Arrived = {
  readonly client: Wire;
  readonly request: IncomingMessage;
  readonly limits: BodyLimits;
  readonly lifecycle: Lifecycle;
};

/** Sends the headers of a request, and `more`. */
async function send(t: ExecutionContext, lines: readonly string[], more = ''): Promise<Arrived> {
  let port = 0;
  const arrived = new Promise<IncomingMessage>((resolve, reject) => {
    listen(t, resolve).then((taken) => {
      port = taken;
    }, reject);
  });
  while (port === 0) await sleep(1);
  const client = await wire(port);
  t.teardown(() => client.socket.destroy());
  client.socket.write(`${['POST / HTTP/1.1', 'Host: x', ...lines].join('\r\n')}\r\n\r\n${more}`);
  const lifecycle = createLifecycle();
  const deadlineAt = performance.now() + ceilingMs;
  const limits = { deadlineAt, shutdown: lifecycle.shutdown, rate: { bytes: 100, everyMs: ceilingMs } };
  return { client, request: await arrived, limits, lifecycle };
}

/** The same with a rate that a test can miss. */
const rated = (arrived: Arrived): Arrived => ({
  ...arrived,
  limits: { ...arrived.limits, rate: { bytes: 100, everyMs } },
});

/** Resolves with the error. */
const failureOf = ({ request, limits }: Arrived) =>
  new Promise<Error>((resolve) => {
    const stop = guardBody(request, limits, (failure) => {
      stop();
      resolve(failure);
    });
  });

test('a body below the minimum rate is ended', async (t) => {
  const arrived = await send(t, ['Content-Length: 5000'], 'x'.repeat(1000));
  arrived.request.resume();
  const failure = await failureOf(rated(arrived));
  t.like(failure, {
    code: 'timeout',
    message: 'Expected at least 100 bytes of the body every 0.2 s, got fewer',
  });
});

test('a body above the minimum rate continues, however long it takes', async (t) => {
  const arrived = await send(t, ['Transfer-Encoding: chunked']);
  arrived.request.resume();
  const until = performance.now() + 6 * everyMs;
  const failed = failureOf(rated(arrived)).then(() => 'failed');
  while (performance.now() < until) {
    arrived.client.socket.write(`64\r\n${'x'.repeat(100)}\r\n`);
    await new Promise((next) => setImmediate(next));
  }
  t.is(await Promise.race([failed, 'going on']), 'going on');
});

test('bytes that the service has not read do not count against the client', async (t) => {
  const arrived = await send(t, ['Content-Length: 5000'], 'x'.repeat(1000));
  while (arrived.request.readableLength === 0) await sleep(5);
  const failed = failureOf(rated(arrived));
  t.is(await Promise.race([failed, sleep(4 * everyMs, 'waiting')]), 'waiting');
  arrived.request.resume();
  t.like(await failed, { code: 'timeout' });
});

test('the deadline and the shutdown end a body', async (t) => {
  const late = await send(t, ['Content-Length: 5']);
  const limits = { ...late.limits, deadlineAt: performance.now() + 10 };
  t.like(await failureOf({ ...late, limits }), { message: 'The body did not arrive within the time limit' });
  await t.throwsAsync(waitForBody(late.request, limits), {
    message: 'The body did not arrive within the time limit',
  });
  const cut = await send(t, ['Content-Length: 5']);
  const failed = failureOf(cut);
  const awaited = t.throwsAsync(waitForBody(cut.request, cut.limits), { message: /shutting down/ });
  cut.lifecycle.abort();
  t.like(await failed, { code: 'shutting_down' });
  await awaited;
});

test('an abort before the first byte is detected', async (t) => {
  const arrived = await send(t, ['Content-Length: 5']);
  const waiting = waitForBody(arrived.request, arrived.limits);
  arrived.client.socket.destroy();
  t.false(await waiting);
  t.false(await waitForBody(arrived.request, arrived.limits));
  const options = { ...arrived.limits, maxBytes: 10, budget: createByteBudget(100), account: 'a' };
  t.is(await readBody(arrived.request, options), null);
});

const bodies: Readonly<Record<string, readonly [line: string, early: string, late: string, body: string]>> = {
  'no body': ['X: y', '', '', ''],
  'a length of 0': ['Content-Length: 0', '', '', ''],
  'no chunks': ['Transfer-Encoding: chunked', '0\r\n\r\n', '', ''],
  'no chunks, sent late': ['Transfer-Encoding: chunked', '', '0\r\n\r\n', ''],
  'bytes with the head': ['Content-Length: 5', 'hello', '', 'hello'],
  'some with the head': ['Content-Length: 5', 'he', 'llo', 'hello'],
  'bytes that come late': ['Content-Length: 5', '', 'hello', 'hello'],
  'late chunks': ['Transfer-Encoding: chunked', '', '5\r\nhello\r\n0\r\n\r\n', 'hello'],
};

for (const [name, [line, early, late, body]] of Object.entries(bodies)) {
  test(`a body is complete after waiting for it: ${name}`, async (t) => {
    const { client, request, limits } = await send(t, [line], early);
    let ready = false;
    const waiting = waitForBody(request, limits).then((arrives) => {
      ready = true;
      return arrives;
    });
    const arrivesEarly = late === '' || early !== '';
    if (arrivesEarly) t.true(await waiting);
    else await sleep(20);
    t.is(ready, arrivesEarly);
    client.socket.write(late);
    t.true(await waiting);
    await sleep(20);
    const options = { ...limits, maxBytes: 10, budget: createByteBudget(100), account: 'a' };
    const upload = await readBody(request, options);
    t.is(Buffer.concat(upload?.blocks ?? []).toString(), body);
  });
}

// Bodies from a socket are complete, in transferable blocks.

type Collected = { readonly upload: Upload; readonly budget: FairBudget };

/** Reads a body whose `chunks` are written one by one. */
async function sendBlocks(t: ExecutionContext, chunks: readonly Uint8Array[]): Promise<Collected> {
  const budget = createByteBudget(2 ** 24);
  const { shutdown } = createLifecycle();
  const options = {
    maxBytes: 2 ** 24,
    budget,
    account: 'a',
    deadlineAt: performance.now() + ceilingMs,
    shutdown,
  };
  const collected = new Promise<Collected>((resolve, reject) => {
    const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
      const upload = await readBody(incoming, options);
      response.end();
      if (upload === null) reject(new Error('the client disconnected'));
      else resolve({ upload, budget });
    };
    listen(t, handle).then((port) => write(port, chunks), reject);
  });
  return collected;
}

async function write(port: number, chunks: readonly Uint8Array[]): Promise<void> {
  const client = request({ port, host: '127.0.0.1', method: 'POST', agent: false });
  client.on('response', (response) => response.resume());
  for (const chunk of chunks) {
    client.write(chunk);
    await sleep(1);
  }
  client.end();
}

const bytes = (length: number) =>
  Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) & 255);

const largeBodies: Readonly<Record<string, readonly number[]>> = {
  'nothing at all': [],
  'one byte': [1],
  'many short chunks': Array(300).fill(700),
  'long chunks alone': [200_000, 200_000],
  'short chunks around long ones': [10, 100_000, 5, 5, 90_000, 7],
};

for (const [name, lengths] of Object.entries(largeBodies)) {
  test(`${name}: the sent bytes, in few transferable blocks`, async (t) => {
    const ends = lengths.map((_, index) =>
      lengths.slice(0, index + 1).reduce((sum, length) => sum + length, 0),
    );
    const whole = bytes(ends.at(-1) ?? 0);
    const chunks = ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end));
    const { upload, budget } = await sendBlocks(t, chunks);
    t.deepEqual(Buffer.concat(upload.blocks), Buffer.from(whole));
    t.true(upload.blocks.length <= 2 + whole.length / 16_384, `${upload.blocks.length} blocks`);
    const buffers = new Set(upload.blocks.map(({ buffer }) => buffer));
    t.is(buffers.size, upload.blocks.length);
    t.notThrows(() => structuredClone(upload.blocks, { transfer: [...buffers] as ArrayBuffer[] }));
    t.is(budget.used(), whole.length);
    upload.release();
    upload.release();
    t.is(budget.used(), 0);
  });
}

// Bodies in small chunks are coalesced, one socket read at a time, and refused when the chunks are tiny.

function chunked(): GatheredRequest {
  const request = new GatheredRequest(new Socket());
  request.headers['transfer-encoding'] = 'chunked';
  return request;
}

test('small chunks of one read are delivered together, after other events', async (t) => {
  const request = chunked();
  const delivered: string[] = [];
  request.on('data', (bytes: Buffer) => delivered.push(bytes.toString()));
  for (let count = 0; count < 3000; count++) t.false(request.push(Buffer.from('0123456789')));
  await new Promise((done) => process.nextTick(done));
  t.deepEqual(delivered, []);
  await new Promise((done) => setImmediate(done));
  t.deepEqual(delivered, ['0123456789'.repeat(3000)]);
});

test('small and large chunks keep their order', async (t) => {
  const request = chunked();
  let text = '';
  request.on('data', (bytes: Buffer) => {
    text += bytes.toString();
  });
  const large = 'x'.repeat(2000);
  for (const chunk of ['a', 'b', large, 'c', large, large, 'd']) request.push(Buffer.from(chunk));
  request.push(null);
  await once(request, 'end');
  t.is(text, `ab${large}c${large}${large}d`);
});

test('thousands of tiny chunks are refused once', (t) => {
  for (const [before, bytes, refused] of [
    [0, 1, true],
    [0, 7, true],
    [0, 8, false],
    [2 ** 24, 1, true],
  ] as const) {
    const request = chunked();
    let refusals = 0;
    request.on(chunksTooSmall, () => refusals++);
    if (before > 0) request.push(Buffer.alloc(before));
    for (let count = 0; count < 4096; count++) request.push(Buffer.alloc(1));
    t.is(refusals, 0);
    for (let count = 0; count < 100_000; count++) request.push(Buffer.alloc(bytes));
    t.is(refusals, refused ? 1 : 0, `${bytes} bytes after ${before}`);
  }
});

test('reads of a body of known length are delivered unchanged', (t) => {
  const request = new GatheredRequest(new Socket());
  const delivered: number[] = [];
  request.on('data', ({ length }: Buffer) => delivered.push(length));
  request.resume();
  return new Promise<void>((done) =>
    setImmediate(() => {
      for (let count = 0; count < 10_000; count++) request.push(Buffer.alloc(1));
      t.is(delivered.length, 10_000);
      done();
    }),
  );
});

/** Responds with the number of received bytes. */
async function startCounter(t: ExecutionContext): Promise<number> {
  const server = createHttpServer(
    async (request, response) => {
      let bytes = 0;
      request.on('data', ({ length }: Buffer) => {
        bytes += length;
      });
      request.on('error', () => {});
      request.on('end', () => response.end(`${bytes} bytes`));
    },
    { seconds: 60 },
  );
  t.teardown(server.destroy);
  return Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port);
}

const body = (chunkBytes: number, chunks: number) =>
  `${`${chunkBytes.toString(16)}\r\n${'x'.repeat(chunkBytes)}\r\n`.repeat(chunks)}0\r\n\r\n`;
const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n';

test('a body in chunks of one byte is a 400 and closes the connection', async (t) => {
  const client = await wire(await startCounter(t));
  client.socket.write(head + body(1, 100_000));
  const text = await client.ended();
  t.regex(text, /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*\r\nConnection: close\r\n/);
  const { code, detail } = JSON.parse(text.slice(text.indexOf('{')));
  t.is(code, 'bad_request');
  t.is(detail, 'Expected chunks of at least 8 bytes on average for `body`, got smaller ones');
});
