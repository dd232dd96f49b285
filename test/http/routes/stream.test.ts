/** How live sessions are opened and refused. */
import { once } from 'node:events';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { WebSocket } from 'ws';
import { version } from '../../../src/node/paths.ts';
import { openApiDocument } from '../../../src/service/api/document.ts';
import { createSharedRateLimiters } from '../../../src/service/auth/rate-limits.ts';
import { createFrameCounter } from '../../../src/service/http/sockets.ts';
import { frame, opcodes } from '../../reliability/support/live-attacks.ts';
import { type App, analysis, startApp, tokens } from '../../support/app.ts';
import { createContract, type Document } from '../../support/contract.ts';
import { call } from '../../support/http.ts';
import { connectRedis, useRedis } from '../../support/redis.ts';
import { share } from '../../support/share.ts';
import { connectStream, issueStreamToken, refusedStream } from '../../support/stream-client.ts';
import { until } from '../../support/wait.ts';

const shared = share(test, startApp);

const contract = createContract(openApiDocument(version) as Document);
const config = { type: 'session.configure', encoding: 's16le', sample_rate_hz: 16_000, channels: 1 } as const;

async function refusal(app: App, options: Parameters<typeof refusedStream>[1]) {
  const { status, headers, body } = await refusedStream(app.port, options);
  const { detail, code, request_id } = JSON.parse(body);
  return { status, headers, detail, code, hasId: request_id === headers['x-request-id'] };
}

test('a session without a valid token is refused before the upgrade as any request is', async (t) => {
  const app = shared();
  const authorizations = [undefined, 'Bearer wrong', 'Basic wrong'];
  for (const authorization of authorizations) {
    const headers = authorization === undefined ? {} : { Authorization: authorization };
    const { status, detail, code, hasId, headers: got } = await refusal(app, { headers });
    const request = await call(app.port, { ...analysis({ do: 'echo' }), headers });
    const expected = JSON.parse(request.body);
    t.deepEqual([status, detail, code, hasId], [request.status, expected.detail, expected.code, true]);
    t.is(got['www-authenticate'], 'Bearer');
    t.is(got.connection, 'close');
  }
});

test('what is no handshake of undertone.v1 is a 400', async (t) => {
  const app = shared();
  const other = await refusal(app, { token: tokens.full, protocols: ['other.v1'] });
  t.is(other.status, 400);
  t.regex(other.detail, /Sec-WebSocket-Protocol/);
  const headers = { Authorization: `Bearer ${tokens.full}` };
  const offer = { ...headers, 'Sec-WebSocket-Protocol': 'undertone.v1' };
  const h2c = { ...offer, Connection: 'Upgrade', Upgrade: 'h2c' };
  const webSocket = { ...offer, Connection: 'Upgrade', Upgrade: 'websocket' };
  const others = [
    headers,
    offer,
    h2c,
    webSocket,
    { ...webSocket, 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'short' },
  ];
  for (const each of others) {
    const { status, body } = await call(app.port, { path: '/v1/stream', headers: each });
    t.deepEqual([status, JSON.parse(body).code], [400, 'bad_request']);
  }
});

test('another version of WebSocket is a 400 that names the version', async (t) => {
  const app = shared();
  const { status, headers, detail } = await refusal(app, {
    token: tokens.full,
    client: { protocolVersion: 8 },
  });
  t.deepEqual([status, headers['sec-websocket-version']], [400, '13']);
  t.regex(detail, /Expected 13 for `Sec-WebSocket-Version`/);
  const wrongProtocol = await refusal(app, { token: tokens.full, protocols: ['other.v1'] });
  t.is(wrongProtocol.headers['sec-websocket-version'], undefined);
});

test('requests of other paths ignore the header Upgrade', async (t) => {
  const app = shared();
  const echo = analysis({ do: 'echo' });
  const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket' };
  t.is((await call(app.port, { ...echo, headers: { ...echo.headers, ...upgrade } })).status, 200);
  t.is((await call(app.port, { path: '/v1/other', headers: upgrade })).status, 404);
  t.is(
    (await call(app.port, { method: 'POST', path: '/v1/stream', headers: upgrade, body: 'x' })).status,
    405,
  );
});

test('pages of other origins may not open sessions', async (t) => {
  const app = await startApp(t, { env: { UNDERTONE_CORS_ORIGINS: 'https://app.example' } });
  const from = (origin: string) => ({ token: tokens.full, headers: { Origin: origin } });
  const { status, code } = await refusal(app, from('https://other.example'));
  t.deepEqual({ status, code }, { status: 403, code: 'forbidden' });
  for (const origin of ['https://app.example', `http://127.0.0.1:${app.port}`]) {
    const session = await connectStream(app.port, from(origin));
    session.socket.terminate();
  }
});

test('rate limits, shutdown and the limits of sessions refuse before the upgrade', async (t) => {
  const limited = await startApp(t, { env: { UNDERTONE_RATE_LIMIT: '1/3600' } });
  await connectStream(limited.port, { token: tokens.full });
  const second = await refusal(limited, { token: tokens.full });
  t.deepEqual([second.status, second.code], [429, 'rate_limited']);
  t.truthy(second.headers['retry-after']);

  const full = await startApp(t, { env: { UNDERTONE_STREAM_SESSIONS: '1' } });
  const only = await connectStream(full.port, { token: tokens.full });
  t.deepEqual([(await refusal(full, { token: tokens.emotion })).status], [503]);
  only.socket.close();
  await only.closed;
  await until(() => full.streams.sessions.count() === 0);
  await connectStream(full.port, { token: tokens.emotion });

  const shared = await startApp(t, { env: { UNDERTONE_STREAM_ACCOUNT_SESSIONS: '1' } });
  await connectStream(shared.port, { token: tokens.full });
  t.is((await refusal(shared, { token: tokens.full })).status, 429);
  await connectStream(shared.port, { token: tokens.emotion });

  const stopping = await startApp(t);
  stopping.lifecycle.refuseNew();
  const { status, code } = await refusal(stopping, { token: tokens.full });
  t.deepEqual({ status, code }, { status: 503, code: 'shutting_down' });
});

test('a session token opens one session and is never echoed', async (t) => {
  const app = shared();
  const { token, expires_at, headers } = await issueStreamToken(app.port, tokens.full);
  t.is(contract.fault('POST /v1/stream/tokens', 200, { token, expires_at }), null);
  t.is(headers['cache-control'], 'no-store');
  const seconds = (Date.parse(expires_at) - Date.now()) / 1000;
  t.true(seconds > 0 && seconds <= 60);
  const protocols = ['undertone.v1', token];
  const session = await connectStream(app.port, { protocols });
  t.is(session.socket.protocol, 'undertone.v1');
  session.send(config);
  await session.first('session.ready');
  const again = await refusal(app, { protocols });
  t.deepEqual([again.status, again.code], [401, 'unauthenticated']);
  t.false(app.log.join('').includes(token));
  t.is((await call(app.port, { ...analysis({ do: 'echo' }, token) })).status, 401);
});

test('a session token has at most the scopes of the token that it was issued for', async (t) => {
  const app = shared();
  const narrow = await issueStreamToken(app.port, tokens.full, { scopes: ['analyze:emotion'] });
  const session = await connectStream(app.port, { protocols: ['undertone.v1', narrow.token] });
  session.send(config);
  t.deepEqual(await session.closed, { code: 1008, reason: 'policy' });
  t.is(session.messages('error')[0]?.code, 'forbidden');
  t.is((await issueStreamToken(app.port, tokens.emotion, { scopes: ['analyze:cognitive'] })).status, 403);
  t.is((await issueStreamToken(app.port, tokens.full, { scopes: [] })).status, 422);
  t.is((await issueStreamToken(app.port, tokens.full, { other: 1 })).status, 422);
  t.is((await issueStreamToken(app.port, 'wrong')).status, 401);
});

test('hosts that share Redis accept a session token once together', async (t) => {
  const redis = await useRedis(t);
  const host = async () => {
    const connection = await connectRedis(t, redis.url);
    const rateLimiters = createSharedRateLimiters(
      connection,
      'a secret that is shared by every host',
      () => {},
    );
    return startApp(t as ExecutionContext, { rateLimiters });
  };
  const [first, second] = [await host(), await host()];
  const protocols = ['undertone.v1', (await issueStreamToken(first.port, tokens.full)).token];
  await connectStream(second.port, { protocols });
  t.is((await refusal(first, { protocols })).status, 401);
});

test('a client that does not answer pings is cut, one that does is not', async (t) => {
  const app = await startApp(t);
  const silent = await connectStream(app.port, { token: tokens.full, client: { autoPong: false } });
  const alive = await connectStream(app.port, { token: tokens.full });
  const pinged = once(alive.socket, 'ping');
  app.streams.sockets.ping();
  await pinged;
  // Follows the pong on its way.
  alive.send(config);
  await alive.first('session.ready');
  app.streams.sockets.ping();
  t.is((await silent.closed).code, 1006);
  t.is(alive.socket.readyState, alive.socket.OPEN);
  await until(() => app.streams.sessions.count() === 1);
});

test('a worker that dies: 1011 after the error', async (t) => {
  const app = await startApp(t);
  const session = await connectStream(app.port, { token: tokens.full });
  session.send(config);
  // The step, of 8,000 bytes, ends the thread, also when it is retried.
  session.socket.send(Buffer.from(JSON.stringify({ do: 'exit' }).padEnd(8000)));
  t.is((await session.closed).code, 1011);
  t.is(session.messages('error')[0]?.code, 'worker_lost');
});

const floods: Readonly<Record<string, (socket: WebSocket) => void>> = {
  'empty pings': (socket) => socket.ping(),
  'empty pongs': (socket) => socket.pong(),
  'frames of one byte': (socket) => socket.send(Buffer.of(0)),
};

for (const [name, send] of Object.entries(floods)) {
  test(`a flood of ${name} closes the connection, and ws handles little of it`, async (t) => {
    const app = await startApp(t);
    const session = await connectStream(app.port, { token: tokens.full });
    session.send(config);
    await session.first('session.ready');
    let pongs = 0;
    session.socket.on('pong', () => pongs++);
    for (let count = 0; count < 2500; count++) send(session.socket);
    t.is((await session.closed).code, 4429);
    t.is(session.messages('error')[0]?.code, 'rate_limited');
    t.is(session.messages('session.ended')[0]?.code, 4429);
    t.true(pongs <= 20, `${pongs} pongs`);
    await until(() => app.streams.sessions.count() === 0);
  });
}

test('frames are counted alike however the bytes are cut', (t) => {
  const lengths = [0, 1, 125, 126, 200, 65_535, 65_536, 3];
  const bytes = Buffer.concat(lengths.map((length) => frame(opcodes.binary, Buffer.alloc(length, 0xff))));
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
      const bounds = [...new Set([0, ...cuts, bytes.length])].sort((a, b) => a - b);
      const count = createFrameCounter();
      const parts = bounds.slice(1).map((to, index) => bytes.subarray(bounds[index], to));
      // A read without the end of a header counts as one frame.
      const total = parts.reduce((sum, part) => sum + (count(part) ?? Number.NaN), 0);
      t.true(total >= lengths.length && total <= lengths.length + parts.length);
    }),
  );
});

test('a client that ends while its connection is not read is noticed', async (t) => {
  const app = await startApp(t);
  const session = await connectStream(app.port, { token: tokens.full });
  session.send({ ...config, encoding: 'mulaw', sample_rate_hz: 8000 });
  await session.first('session.ready');
  // The thread holds the first step, of 2,000 bytes.
  session.socket.send(Buffer.from(JSON.stringify({ do: 'hold', file: '/no/such/file' }).padEnd(2000)));
  for (let sent = 0; sent < 40; sent++) session.socket.send(Buffer.alloc(2 ** 20));
  await until(async () => (await app.metric('undertone_stream_held_bytes')) > 40_000);
  session.socket.terminate();
  await until(() => app.streams.sessions.count() === 0);
  t.pass();
});

const owners = (several: boolean) => ({ hasSeveralOwners: async () => several });

test('one account has at most half of the sessions once there is another owner', async (t) => {
  const env = { UNDERTONE_STREAM_SESSIONS: '4' };
  const open = async (several: boolean) => {
    const app = await startApp(t, { env, verifier: owners(several) });
    await app.streams.sessions.refresh();
    return app;
  };
  const alone = await open(false);
  for (let count = 0; count < 4; count++) await connectStream(alone.port, { token: tokens.full });
  t.is((await refusal(alone, { token: tokens.full })).status, 503);
  const several = await open(true);
  for (let count = 0; count < 2; count++) await connectStream(several.port, { token: tokens.full });
  const { status, code } = await refusal(several, { token: tokens.full });
  t.deepEqual({ status, code }, { status: 429, code: 'rate_limited' });
  await connectStream(several.port, { token: tokens.emotion });
});

test('keep_alive keeps at most a quarter of the sessions open for one account', async (t) => {
  const app = await startApp(t, { env: { UNDERTONE_STREAM_SESSIONS: '8', UNDERTONE_STREAM_IDLE_S: '4' } });
  const sessions = await Promise.all(
    Array.from({ length: 4 }, () => connectStream(app.port, { token: tokens.full })),
  );
  let closed = 0;
  for (const session of sessions) {
    session.send(config);
    void session.closed.then(() => closed++);
    const timer = setInterval(() => session.send({ type: 'keep_alive' }), 100);
    t.teardown(() => clearInterval(timer));
  }
  await until(() => closed >= 2);
  t.is(app.streams.sessions.count(), 2);
});

test('audio that arrives while the event loop is blocked counts before the session is idle', async (t) => {
  const app = await startApp(t, { env: { UNDERTONE_STREAM_IDLE_S: '1' } });
  const session = await connectStream(app.port, { token: tokens.full });
  // Inside of the poll phase: timers that are over then come before what has arrived.
  session.socket.once('message', () => {
    session.socket.send(Buffer.alloc(640));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
    setTimeout(() => session.socket.close(1000), 100);
  });
  session.send(config);
  t.is((await session.closed).code, 1000);
});

test('session.configure that arrives while the event loop is blocked is in time', async (t) => {
  const app = await startApp(t, { env: { UNDERTONE_STREAM_IDLE_S: '1' } });
  const session = await connectStream(app.port, { token: tokens.full });
  session.socket.once('pong', () => {
    session.send(config);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
    setTimeout(() => session.socket.close(1000), 100);
  });
  session.socket.ping();
  t.is((await session.closed).code, 1000);
});

test('a session without session.configure closes after the time for it, whatever else it sends', async (t) => {
  const app = await startApp(t, { env: { UNDERTONE_STREAM_IDLE_S: '1' } });
  const session = await connectStream(app.port, { token: tokens.full });
  const timer = setInterval(() => session.send({ type: 'keep_alive' }), 100);
  t.teardown(() => clearInterval(timer));
  t.is((await session.closed).code, 4408);
});

test('a message of more than 4,096 characters: 1007', async (t) => {
  const app = shared();
  const session = await connectStream(app.port, { token: tokens.full });
  session.socket.send(`{"type":"keep_alive"${' '.repeat(5000)}}`);
  t.is((await session.closed).code, 1007);
});

test('a message of many fragments: 1008', async (t) => {
  const app = shared();
  const session = await connectStream(app.port, { token: tokens.full });
  for (let count = 0; count < 300; count++) session.socket.send('x', { fin: false });
  t.is((await session.closed).code, 1008);
});
