/** Requests that clients send before the responses to earlier ones, and responses that they do not read. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { createHttpServer, type Handler } from '../../src/service/http/server.ts';
import { type Wire, wire } from '../support/http.ts';
import type { Teardown } from '../support/share.ts';
import { until } from '../support/wait.ts';

type Limits = Partial<Parameters<typeof createHttpServer>[1]>;

async function serve(t: Teardown, handler: Handler, limits: Limits = {}) {
  const server = createHttpServer(handler, { seconds: 600, ...limits });
  t.teardown(server.destroy);
  const port = Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port);
  const open = async () => {
    const client = await wire(port);
    t.teardown(() => client.socket.destroy());
    return client;
  };
  return { server, open };
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const chunkedPost = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost:x\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** Answers with the method, the path, a header and the body of the request, after a turn of the event loop. */
function createEcho() {
  let running = 0;
  let most = 0;
  const echo: Handler = async (request: IncomingMessage, response: ServerResponse) => {
    most = Math.max(most, ++running);
    const body = await text(request);
    await new Promise(setImmediate);
    response.once('close', () => running--);
    response.end(`<${request.method} ${request.url} ${request.headers['x-a'] ?? ''} ${body}>`);
  };
  return { echo, most: () => most };
}

const answers = (received: string) => received.match(/<[^<>]*>/g) ?? [];

test('a thousand pipelined requests are handled one at a time and answered in order', async (t) => {
  const { echo, most } = createEcho();
  const { open } = await serve(t, echo);
  const client = await open();
  const paths = Array.from({ length: 1000 }, (_, index) => `/${index}`);
  client.socket.write(paths.map((path) => get(path)).join(''));
  const received = await client.until(/<GET \/999 {2}>/);
  t.deepEqual(
    answers(received),
    paths.map((path) => `<GET ${path}  >`),
  );
  t.is(most(), 1);
});

test('pipelined bodies, headers and the end of the client arrive as they were sent', async (t) => {
  const { echo, most } = createEcho();
  const { open } = await serve(t, echo);
  const client = await open();
  const long = 'y'.repeat(300_000);
  const requests = [
    post('/1', 'one'),
    get('/2', 'X-A: \xe9 b\r\n'),
    chunkedPost('/3', 'three'),
    post('/4', long),
  ];
  client.socket.end(Buffer.from([...requests, get('/5')].join(''), 'latin1'));
  const received = answers(await client.ended());
  t.deepEqual(received.slice(0, 3), ['<POST /1  one>', '<GET /2 \xc3\xa9 b >', '<POST /3  three>']);
  t.deepEqual(received.slice(3), [`<POST /4  ${long}>`, '<GET /5  >']);
  t.is(most(), 1);
});

test('a connection stays usable after pipelined requests, and closes when one of them says so', async (t) => {
  const { echo } = createEcho();
  const { open } = await serve(t, echo);
  const client = await open();
  client.socket.write(get('/1') + get('/2'));
  await client.until(/<GET \/2 {2}>/);
  client.socket.write(get('/3') + get('/4', 'Connection: close\r\n') + get('/5'));
  t.deepEqual(answers(await client.ended()), ['<GET /1  >', '<GET /2  >', '<GET /3  >', '<GET /4  >']);
});

test('malformed bytes after pipelined requests are refused after their responses', async (t) => {
  const { echo } = createEcho();
  const { open } = await serve(t, echo);
  const client = await open();
  client.socket.write(`${get('/1')}${get('/2')}nonsense\r\n\r\n`);
  const received = await client.ended();
  t.deepEqual(answers(received), ['<GET /1  >', '<GET /2  >']);
});

/** Connections that the server has accepted: it accepts one per turn. */
async function openMany(open: () => Promise<Wire>, count: number): Promise<Wire[]> {
  const clients = await Promise.all(Array.from({ length: count }, open));
  for (const client of clients) {
    client.socket.write(get('/first'));
    await client.until(/\r\n\r\n/);
  }
  return clients;
}

test('a request alone is handled before the pipelined ones of a hundred connections', async (t) => {
  const paths: string[] = [];
  const { open } = await serve(t, async ({ url }, response) => {
    paths.push(String(url));
    response.end();
  });
  const [other, ...clients] = await openMany(open, 101);
  for (const { socket } of clients) socket.write(get('/many').repeat(20));
  other?.socket.write(get('/one'));
  await until(() => paths.length === 101 + 2001);
  t.true(paths.indexOf('/one') < 150, String(paths.indexOf('/one')));
});

test('requests of a network wait for one of each other, also of connections of a proxy', async (t) => {
  const from: string[] = [];
  const handle: Handler = async ({ headers }, response) => {
    from.push(String(headers['x-forwarded-for']));
    response.end();
  };
  const { open } = await serve(t, handle, { trustedProxies: 1 });
  const clients = await openMany(open, 103);
  for (const [index, { socket }] of clients.entries()) {
    const address = index < 100 ? '192.0.2.1' : `198.51.100.${index}`;
    socket.write(get('/', `X-Forwarded-For: 203.0.113.${index}, ${address}\r\n`));
  }
  await until(() => from.length === 2 * 103);
  const last = from.findLastIndex((addresses) => addresses.includes('198.51.100.'));
  t.true(last < 150, String(last));
});

test('all requests of connections that pipeline from their first bytes on are handled', async (t) => {
  let handled = 0;
  const { open } = await serve(t, async (_, response) => {
    handled++;
    response.end();
  });
  const clients = await Promise.all(Array.from({ length: 30 }, open));
  for (const { socket } of clients) socket.write(get('/').repeat(20));
  await until(() => handled === 600);
  t.pass();
});

const long = Buffer.alloc(2 ** 25, 'x');

test('requests of a client that reads nothing wait, and its connection is closed', async (t) => {
  let handled = 0;
  const sendLong: Handler = async (_, response) => {
    handled++;
    response.end(long);
  };
  const { server, open } = await serve(t, sendLong, { unreadSeconds: 2 });
  const client = await open();
  client.socket.pause();
  client.socket.write(get('/').repeat(1300));
  await until(() => server.unread.bytes() > 0);
  await until(() => server.unread.closed() === 1);
  t.is(handled, 1);
  t.is(server.unread.bytes(), 0);
});

test('a client that reads slowly gets the whole response, longer than one that reads nothing', async (t) => {
  const { server, open } = await serve(t, async (_, response) => response.end(long), {
    unreadSeconds: 5,
    maxUnreadBytes: 2 ** 30,
  });
  const slow = await open();
  slow.socket.pause();
  slow.socket.write(get('/'));
  const reading = setInterval(() => slow.socket.read(100_000), 500);
  t.teardown(() => clearInterval(reading));
  for (const closed of [1, 2, 3]) {
    const silent = await open();
    silent.socket.pause();
    silent.socket.write(get('/'));
    await until(() => server.unread.closed() === closed);
  }
  clearInterval(reading);
  slow.socket.resume();
  await until(() => slow.text().length > long.length);
  t.is(server.unread.closed(), 3);
});

test('beyond the limit of bytes, the connection that has waited longest is closed', async (t) => {
  const { server, open } = await serve(t, async (_, response) => response.end(long), {
    maxUnreadBytes: 2.5 * 2 ** 25,
  });
  const clients = [];
  for (const waiting of [1, 2]) {
    const client = await open();
    client.socket.pause();
    client.socket.write(get('/'));
    clients.push(client);
    await until(() => server.unread.bytes() > (waiting - 0.5) * 2 ** 25);
  }
  const third = await open();
  third.socket.pause();
  third.socket.write(get('/'));
  await until(() => server.unread.closed() === 1);
  third.socket.resume();
  await until(() => third.text().length > long.length);
  const [first] = clients;
  first?.socket.resume();
  t.true(((await first?.ended()) ?? '').length < long.length);
});
