/** Bodies in small chunks are coalesced, one socket read at a time, and refused when the chunks are tiny. */
import { once } from 'node:events';
import { Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { chunksTooSmall, createHttpServer, GatheredRequest } from '../../../src/service/http/server.ts';
import { wire } from '../../support/http.ts';

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
