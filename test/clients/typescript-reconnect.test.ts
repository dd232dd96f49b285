/** Live sessions of the TypeScript client that are lost, with the real service. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { WebSocket, WebSocketServer } from 'ws';
import {
  createClient,
  NoAnswerError,
  type Reconnected,
  SessionEndedError,
  type StreamMessage,
  UnauthenticatedError,
} from '../../clients/typescript/src/index.ts';
import { startScriptedServer } from '../support/scripted-server.ts';
import { startServer } from '../support/server.ts';
import { share } from '../support/share.ts';
import { dataOf } from '../support/stream-client.ts';
import { until } from '../support/wait.ts';

const samples = dataOf(readFileSync('examples/sample.wav'));
const format = { encoding: 's16le', sample_rate_hz: 16_000, channels: 1 } as const;
const reconnect = true;
const server = share(test, startServer);
const realRandom = Math.random;

// The random part of delays.
test.beforeEach(() => {
  Math.random = () => 0;
});
test.after.always(() => {
  Math.random = realRandom;
});

/** Passes connections to the service, holds or refuses them. */
async function startProxy(t: ExecutionContext) {
  const state = { mode: 'pass' as 'pass' | 'hold' | 'refuse', connections: 0 };
  const open = new Set<Socket>();
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const pass = (socket: Socket) => {
    const service = connect(server().port, '127.0.0.1');
    open.add(service);
    service.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => service.destroy());
    socket.pipe(service).pipe(socket);
  };
  const proxy = createServer(async (socket) => {
    open.add(socket);
    socket.on('error', () => {});
    state.connections++;
    if (state.mode === 'refuse') return socket.destroy();
    await until(() => state.mode === 'pass' || socket.destroyed);
    if (!socket.destroyed) pass(socket);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => {
    cut();
    proxy.close();
  });
  return { state, cut, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

/** Sessions go through the proxy, requests of tokens to the service. */
function clientOf(url: string) {
  const client = createClient({ url, WebSocket });
  const service = createClient(server());
  const tokens: string[] = [];
  const token = async () => {
    tokens.push((await service.createStreamToken()).token);
    return tokens.at(-1) ?? '';
  };
  return { client, tokens, token };
}

type Read = { readonly messages: StreamMessage<unknown>[]; readonly over: Promise<unknown> };

/** Reads to the end. `over` resolves with what was thrown. */
function read(session: AsyncIterable<StreamMessage<unknown>>): Read {
  const messages: StreamMessage<unknown>[] = [];
  const readAll = async () => {
    for await (const message of session) messages.push(message);
  };
  return { messages, over: readAll().catch((error: unknown) => error) };
}

const isReconnected = (message: StreamMessage<unknown>): message is Reconnected =>
  message.type === 'reconnected';

/** @throws when the session is over instead */
async function nextSession({ messages, over }: Read): Promise<Reconnected> {
  let isOver = false;
  void over.then(() => {
    isOver = true;
  });
  await until(() => isOver || messages.some(isReconnected));
  const found = messages.find(isReconnected);
  if (found === undefined) throw new Error(`Expected a new session, got ${await over}`);
  return found;
}

test.serial('a new session follows a lost one, and says what was lost', async (t) => {
  const proxy = await startProxy(t);
  const { client, token, tokens } = clientOf(proxy.url);
  const session = await client.stream(format, { reconnect, token });
  const reading = read(session);
  const { messages, over } = reading;
  await session.send(samples.subarray(0, 128_000));
  await until(() => messages.some(({ type }) => type === 'turn'));
  proxy.state.mode = 'hold';
  proxy.cut();
  await until(() => proxy.state.connections === 2);
  // Ends within a sample: the rest of it is no sample of the next session.
  await session.send(samples.subarray(128_000, 160_001));
  session.turnEnd();
  proxy.state.mode = 'pass';
  const lost = await nextSession(reading);
  await session.send(samples.subarray(160_001));
  const report = await session.end();
  t.is(await over, undefined);
  const at = messages.indexOf(lost);
  t.like(lost, { offset_s: 160_002 / 32_000, lost_s: 32_002 / 32_000 });
  t.true(lost.error instanceof NoAnswerError);
  const later = messages.slice(at + 1);
  t.deepEqual(
    later.map((message) => 'seq' in message && message.seq),
    later.map((_, index) => index),
  );
  t.deepEqual(
    [later[0], later.at(-1)].map((message) => message?.type),
    ['session.ready', 'session.ended'],
  );
  t.is(new Set(tokens).size, 2);
  const whole = await createClient({ ...server(), WebSocket }).stream(format);
  await whole.send(samples.subarray(160_002));
  t.deepEqual({ ...report, request_id: '' }, { ...(await whole.end()), request_id: '' });
});

test.serial('without the option a lost session is over', async (t) => {
  const proxy = await startProxy(t);
  const { client, token } = clientOf(proxy.url);
  const session = await client.stream(format, { token: await token() });
  proxy.cut();
  t.true((await read(session).over) instanceof NoAnswerError);
  t.is(proxy.state.connections, 1);
});

test.serial('the error of the last attempt is thrown', async (t) => {
  const proxy = await startProxy(t);
  const { client, token, tokens } = clientOf(proxy.url);
  const session = await client.stream(format, { reconnect, token });
  proxy.state.mode = 'refuse';
  proxy.cut();
  const thrown = await read(session).over;
  t.true(thrown instanceof NoAnswerError);
  t.is(await t.throwsAsync(session.send(samples)), thrown as Error);
  t.is(await t.throwsAsync(session.end()), thrown as Error);
  t.is(tokens.length, 9);
  // What `token` throws, such as without a network, is retried too; a refusal of the service is not.
  const other = await startProxy(t);
  let calls = 0;
  const failing = async () => {
    calls++;
    if (calls === 1) return token();
    if (calls === 2) throw new TypeError('fetch failed');
    throw new UnauthenticatedError(401, 'revoked', null, null);
  };
  const refused = await clientOf(other.url).client.stream(format, { reconnect, token: failing });
  other.cut();
  t.true((await read(refused).over) instanceof UnauthenticatedError);
  t.is(calls, 3);
});

test.serial('the end and an abort end the attempts', async (t) => {
  const proxy = await startProxy(t);
  const { client, token } = clientOf(proxy.url);
  const aborting = new AbortController();
  const reason = new Error('The page is closed');
  const [ended, aborted] = [
    await client.stream(format, { reconnect, token }),
    await client.stream(format, { reconnect, token, signal: aborting.signal }),
  ];
  proxy.state.mode = 'hold';
  proxy.cut();
  await until(() => proxy.state.connections === 4);
  aborting.abort(reason);
  t.is(await read(aborted).over, reason);
  t.is(await t.throwsAsync(aborted.end()), reason);
  await t.throwsAsync(ended.end(), { instanceOf: NoAnswerError, message: /lost connection/ });
  t.true((await read(ended).over) instanceof NoAnswerError);
  await t.throwsAsync(ended.send(samples), { instanceOf: NoAnswerError });
});

/** Its first session closes with the code, after a report for 1001, as of a service that shuts down. */
async function startClosing(t: ExecutionContext, code: number) {
  const closing = new WebSocketServer({ port: 0, handleProtocols: () => 'undertone.v1' });
  t.teardown(() => {
    for (const socket of closing.clients) socket.terminate();
    closing.close();
  });
  let sessions = 0;
  closing.on('connection', (socket) => {
    const isFirst = ++sessions === 1;
    const say = (message: object) => socket.send(JSON.stringify(message));
    const final = (report: string) => say({ type: 'final', seq: 1, report });
    socket.on('message', (data, isBinary) => {
      const type = isBinary ? 'samples' : JSON.parse(String(data)).type;
      if (type === 'session.configure') say({ type: 'session.ready', seq: 0, limits: { idle_s: 60 } });
      if (type === 'session.end') final('second');
      if (type === 'session.end') socket.close(1000);
      if (type !== 'samples' || !isFirst) return;
      if (code === 1001) final('first');
      say({ type: 'session.ended', seq: 2, audio_s: 0.25 });
      socket.close(code);
    });
  });
  await once(closing, 'listening');
  return { url: `http://127.0.0.1:${(closing.address() as AddressInfo).port}`, count: () => sessions };
}

for (const code of [1001, 1011, 1012, 1013])
  test.serial(`a new session follows close code ${code}`, async (t) => {
    const { url } = await startClosing(t, code);
    const client = createClient({ url, WebSocket });
    const session = await client.stream(format, { reconnect, token: () => 'any' });
    const reading = read(session);
    await session.send(samples.subarray(0, 32_000));
    const lost = await nextSession(reading);
    t.like(lost, { offset_s: 1, lost_s: 0.75 });
    t.true(lost.error instanceof SessionEndedError && lost.error.code === code);
    t.is((await session.end()) as unknown, 'second');
  });

for (const code of [1000, 1007, 1008, 1009, 4408, 4413, 4422, 4429])
  test.serial(`no session follows close code ${code}`, async (t) => {
    const { url, count } = await startClosing(t, code);
    const client = createClient({ url, WebSocket });
    const session = await client.stream(format, { reconnect, token: () => 'any' });
    await session.send(samples.subarray(0, 32_000));
    const thrown = await read(session).over;
    t.true(thrown instanceof SessionEndedError && thrown.code === code);
    t.is(count(), 1);
  });

test.serial('the client requests a token for each session, and waits as the service asks', async (t) => {
  const { url } = await startClosing(t, 1012);
  const later = {
    status: 503,
    body: { detail: 'busy', code: 'overloaded' },
    headers: { 'Retry-After': '1' },
  };
  const issued = { status: 200, body: { token: 'any' } };
  const tokens = await startScriptedServer(t, [issued, later, issued]);
  class Closing extends WebSocket {
    constructor(_: string | URL, protocols: string[]) {
      super(url, protocols);
    }
  }
  const client = createClient({ ...tokens, token: 'any-token-of-20-characters', WebSocket: Closing });
  const session = await client.stream(format, { reconnect });
  const lostAt = performance.now();
  await session.send(samples);
  await nextSession(read(session));
  t.true(performance.now() - lostAt > 900);
  t.is(tokens.lengths.length, 3);
  t.is((await session.end()) as unknown, 'second');
});

test('a token for one session is refused with the option', async (t) => {
  const client = createClient({ url: 'http://127.0.0.1:1', WebSocket });
  await t.throwsAsync(client.stream(format, { reconnect, token: 'any' }), { instanceOf: TypeError });
});
