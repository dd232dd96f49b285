/** Raw sockets: malformed HTTP, early responses, clients that stall or abort. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { type App, analysis, rawHead, startApp, untilMetric } from '../support/app.ts';
import { bodyOf, call, exchangeBytes, wire } from '../support/http.ts';
import { share } from '../support/share.ts';
import { createGate, fastest, until } from '../support/wait.ts';

const shared = share(test, startApp);

const order = JSON.stringify({ do: 'echo' });
const uuid = '[0-9a-f-]{36}';

const brokenRequests: Record<string, string> = {
  'no HTTP at all': 'hello\r\n\r\n',
  'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  TLS: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'a header with a control character': 'GET /health HTTP/1.1\r\nHost: x\r\nX: \x01\r\n\r\n',
  CONNECT: 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n',
};

for (const [name, bytes] of Object.entries(brokenRequests)) {
  test.serial(`${name} is a bad request`, async (t) => {
    const answer = await exchangeBytes(shared().port, bytes);
    t.regex(answer, /^HTTP\/1\.1 400 Bad Request\r\nContent-Type: application\/json\r\n/);
    t.regex(answer, /\r\nConnection: close\r\n/);
    const expected = `^\\{"detail":"Expected an HTTP/1\\.1 request, got something else","code":"bad_request","request_id":"${uuid}"\\}$`;
    t.regex(bodyOf(answer), new RegExp(expected));
  });
}

test.serial('a client that resets its connection after CONNECT does not end the service', async (t) => {
  const { port, server } = shared();
  const request = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
  for (const before of ['', request]) {
    const connected = once(server.server, 'connection') as Promise<[Socket]>;
    const client = await wire(port);
    const [socket] = await connected;
    client.socket.write(`${before}CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n`);
    await client.until(/^HTTP/);
    client.socket.resetAndDestroy();
    await until(() => socket.destroyed);
  }
  t.is((await call(port, { path: '/health' })).status, 200);
});

test.serial('a pipelined WebSocket handshake closes the connection, and the service goes on', async (t) => {
  const { port } = shared();
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
  const handshake = `GET /v1/stream HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`;
  const answer = await exchangeBytes(port, `GET /health HTTP/1.1\r\nHost: x\r\n\r\n${handshake}`);
  t.false(answer.includes(' 101 '));
  t.is((await call(port, { path: '/health' })).status, 200);
});

test.serial('a request without Host is a bad request in JSON', async (t) => {
  const answer = await exchangeBytes(
    shared().port,
    'GET /health HTTP/1.1\r\nX-Request-Id: id-1\r\nConnection: close\r\n\r\n',
  );
  t.regex(answer, /^HTTP\/1\.1 400 /);
  t.is(
    bodyOf(answer),
    '{"detail":"Expected the header `Host`, got none","code":"bad_request","request_id":"id-1"}',
  );
});

test.serial('an analysis over HTTP/1.0, or with Connection: close, gets a whole response', async (t) => {
  const app = shared();
  const head = rawHead(`Content-Length: ${order.length}`);
  const old = head.replace('HTTP/1.1', 'HTTP/1.0');
  for (const lines of [old, old.replace('Host: x\r\n', ''), `${head}Connection: close\r\n`]) {
    const answer = await exchangeBytes(app.port, `${lines}\r\n${order}`);
    t.regex(answer, /^HTTP\/1\.1 200 OK\r\n/);
    t.regex(answer, /\r\nConnection: close\r\n/);
    t.regex(bodyOf(answer), /^\{"request_id":"id-1",.*\}$/);
    t.true(answer.includes(`\r\nContent-Length: ${bodyOf(answer).length}\r\n`));
  }
});

test.serial('too large headers are 431', async (t) => {
  const answer = await exchangeBytes(
    shared().port,
    `GET /health HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
  );
  t.regex(answer, /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
  const body = new RegExp(
    `^\\{"detail":"Expected at most 16384 bytes of headers, got more","code":"headers_too_large","request_id":"${uuid}"\\}$`,
  );
  t.regex(bodyOf(answer), body);
});

test.serial('Expect: 100-continue gets 100 before the body', async (t) => {
  const app = shared();
  const client = await wire(app.port);
  client.socket.write(
    `${rawHead(`Content-Length: ${order.length}`, 'Expect: 100-continue', 'Connection: close')}\r\n`,
  );
  t.is(await client.until(/\r\n\r\n/), 'HTTP/1.1 100 Continue\r\n\r\n');
  client.socket.write(order);
  t.regex(await client.ended(), /HTTP\/1\.1 200 OK\r\n/);
});

for (const [status, lines] of [
  [401, ['Authorization: Bearer nobody-knows-this-token']],
  [413, ['Content-Length: 99999999']],
  [422, ['Content-Type: text/plain']],
] as const) {
  test.serial(`Expect: 100-continue is refused with ${status} and nothing else`, async (t) => {
    const app = shared();
    const names = lines.map((line) => line.split(':')[0] as string);
    const head = rawHead('Content-Length: 100')
      .split('\r\n')
      .filter((line) => !names.some((name) => line.startsWith(`${name}:`)));
    const answer = await exchangeBytes(
      app.port,
      [...head.filter((line) => line !== ''), ...lines, 'Expect: 100-continue', '', ''].join('\r\n'),
    );
    t.regex(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
    t.regex(answer, /\r\nConnection: close\r\n/i);
  });
}

/** Resolves when the service has refused the upload and closed the connection. */
async function sendForever(t: ExecutionContext, app: App, line: string): Promise<void> {
  const client = await wire(app.port);
  client.socket.write(`${rawHead(line)}\r\n`);
  const chunk = Buffer.alloc(65_536, 'x');
  const chunked = line.startsWith('T');
  const feed = setInterval(() => {
    if (chunked) client.socket.write(`10000\r\n`);
    client.socket.write(chunk);
    if (chunked) client.socket.write('\r\n');
  }, 1);
  const answer = await client.until(/\r\n\r\n\{.*\}$/);
  t.regex(answer, /^HTTP\/1\.1 413 Payload Too Large\r\n/);
  if (!client.socket.destroyed) await new Promise((closed) => client.socket.once('close', closed));
  clearInterval(feed);
  await untilMetric(app, 'undertone_held_bytes', 0);
}

test.serial('an error reaches a client that is still sending, and the connection closes soon', async (t) => {
  const app = shared();
  for (const line of ['Content-Length: 26214401', 'Transfer-Encoding: chunked']) {
    t.true((await fastest(8000, () => sendForever(t, app, line), 3)) < 8000, line);
  }
});

test.serial('401 is decided before the body is read', async (t) => {
  const app = shared();
  const head = 'POST /v1/analyze/emotion HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n';
  const refused = async () =>
    t.regex(await exchangeBytes(app.port, head), /^HTTP\/1\.1 401 Unauthorized\r\n/);
  // Half of the linger time: the service does not wait for the body.
  t.true((await fastest(500, refused)) < 500);
});

const piece = 'x'.repeat(1000);
const pieces = 100;

/** Sends a refused body in pieces, and reads once the service has closed the connection. */
async function sendRefused({ port, server }: App) {
  const connected = once(server.server, 'connection') as Promise<[Socket]>;
  const client = await wire(port);
  const [socket] = await connected;
  client.socket.pause();
  const head = `POST /v1/analyze HTTP/1.1\r\nHost: x\r\nContent-Length: ${pieces * piece.length}\r\n\r\n`;
  client.socket.write(head);
  await until(() => socket.writableEnded);
  const startedAt = performance.now();
  let sent = 0;
  let reads = 0;
  for (let seen = socket.bytesRead; !socket.destroyed; await setImmediate()) {
    if (sent++ < pieces) client.socket.write(piece);
    if (socket.bytesRead !== seen) reads++;
    seen = socket.bytesRead;
  }
  const ms = performance.now() - startedAt;
  client.socket.resume();
  return { ms, reads, bytes: socket.bytesRead - head.length, answer: await client.ended() };
}

test.serial('a refused body is read at intervals, and its client gets the answer afterwards', async (t) => {
  const app = shared();
  let run = await sendRefused(app);
  // The service waits for a second: a busy machine may take longer.
  while (run.ms >= 1000) run = await sendRefused(app);
  t.true(run.reads <= 1 + run.ms / 20, `${run.reads} reads in ${run.ms} ms`);
  t.is(run.bytes, pieces * piece.length);
  t.regex(run.answer, /^HTTP\/1\.1 401 Unauthorized\r\n[\s\S]*\}$/);
});

for (const [what, head, trickle] of [
  ['a body', `${rawHead('Content-Length: 100000')}\r\n`, 'x'],
  ['headers', 'GET /health HTTP/1.1\r\n', 'X: y\r\n'],
] as const) {
  test.serial(`${what} sent too slowly is 408, and reserves no bytes`, async (t) => {
    const app = await startApp(t, { env: { UNDERTONE_DEADLINE_S: '1' } });
    const client = await wire(app.port);
    client.socket.write(head);
    const feed = setInterval(() => client.socket.write(trickle), 50);
    const answer = await client.ended();
    clearInterval(feed);
    t.regex(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
    t.regex(bodyOf(answer), /"code":"timeout"/);
    await untilMetric(app, 'undertone_held_bytes', 0);
  });
}

test.serial('a client that aborts an upload releases its bytes', async (t) => {
  const app = shared();
  const clients = await Promise.all(Array.from({ length: 20 }, () => wire(app.port)));
  for (const client of clients)
    client.socket.write(`${rawHead('Content-Length: 200000')}\r\n${'x'.repeat(100_000)}`);
  await untilMetric(app, 'undertone_held_bytes', 2_000_000);
  for (const client of clients) client.socket.destroy();
  await untilMetric(app, 'undertone_held_bytes', 0);
  const left = 'undertone_requests_total{route="/v1/analyze/emotion",method="POST",status="499"}';
  await untilMetric(app, left, 20);
  t.pass();
});

test.serial('a client that aborts while its analysis runs or waits frees the worker', async (t) => {
  const app = shared();
  const work = JSON.stringify(createGate().task);
  const clients = await Promise.all([1, 2, 3].map(() => wire(app.port)));
  for (const client of clients)
    client.socket.write(`${rawHead(`Content-Length: ${work.length}`)}\r\n${work}`);
  await untilMetric(app, 'undertone_queue_length', 2);
  for (const client of clients) client.socket.destroy();
  await untilMetric(app, 'undertone_workers_busy', 0);
  await untilMetric(app, 'undertone_held_bytes', 0);
  t.is((await call(app.port, analysis({ do: 'echo' }))).status, 200);
});

test.serial('malformed bytes after a whole request do not affect its response', async (t) => {
  const app = shared();
  const work = JSON.stringify({ do: 'work', ms: 100 });
  const answer = await exchangeBytes(
    app.port,
    `${rawHead(`Content-Length: ${work.length}`)}\r\n${work}nonsense\r\n\r\n`,
  );
  t.regex(answer, /^HTTP\/1\.1 200 OK\r\n/);
  t.regex(answer, /\r\nConnection: close\r\n/i);
});

test.serial('a client that half-closes after its request gets the response', async (t) => {
  const app = shared();
  const gate = createGate();
  const work = JSON.stringify(gate.task);
  const client = await wire(app.port);
  client.socket.end(`${rawHead(`Content-Length: ${work.length}`)}\r\n${work}`);
  t.regex(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 100 Continue\r\n\r\n/);
  gate.open();
  t.regex(await client.ended(), /\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*\}$/);
  const two = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2);
  const pipelined = await wire(app.port);
  pipelined.socket.end(two);
  t.is((await pipelined.ended()).match(/ 200 OK\r\n/g)?.length, 2);
  const old = await wire(app.port);
  old.socket.end('GET /health HTTP/1.0\r\n\r\n');
  t.regex(await old.ended(), /^HTTP\/1\.1 200 OK\r\n/);
});

test.serial('a client that half-closes within its body gets 400, and its bytes are released', async (t) => {
  const app = shared();
  const client = await wire(app.port);
  client.socket.end(`${rawHead('Content-Length: 100')}\r\nhalf`);
  t.regex(await client.ended(), /^HTTP\/1\.1 400 Bad Request\r\n/);
  await untilMetric(app, 'undertone_held_bytes', 0);
});

for (const [header, status] of [
  ['Transfer-Encoding: gzip, chunked', 501],
  ['Transfer-Encoding: chunked\r\nContent-Encoding: gzip', 415],
  ['Content-Length: 5\r\nContent-Encoding: br', 415],
] as const) {
  test.serial(`${header.replace('\r\n', ', ')} is ${status}`, async (t) => {
    const answer = await exchangeBytes(shared().port, `${rawHead(header, 'Connection: close')}\r\n0\r\n\r\n`);
    t.regex(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
    const { detail } = JSON.parse(bodyOf(answer));
    t.regex(
      detail,
      status === 501
        ? /^Expected chunked for `Transfer-Encoding`/
        : /^Expected no `Content-Encoding`, got (gzip|br)/,
    );
    t.is(/\r\nAccept-Encoding: identity\r\n/i.test(answer), status === 415);
  });
}
