/** Live sessions of the TypeScript client, with the real service. */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { WebSocket, WebSocketServer } from 'ws';
import {
  ApiError,
  type ClientOptions,
  createClient,
  NoAnswerError,
  type StreamMessage,
  type StreamSession,
} from '../../clients/typescript/src/index.ts';
import { call } from '../support/http.ts';
import { startServer } from '../support/server.ts';
import { share } from '../support/share.ts';
import { dataOf } from '../support/stream-client.ts';
import { until } from '../support/wait.ts';

const wav = readFileSync('examples/sample.wav');
const samples = dataOf(wav);
const format = { encoding: 's16le', sample_rate_hz: 16_000, channels: 1 } as const;
const idleSeconds = 8;

const server = share(test, (t) => startServer(t, { UNDERTONE_STREAM_IDLE_S: String(idleSeconds) }));
const clientOf = (options: Partial<ClientOptions> = {}) =>
  createClient({ ...server(), WebSocket, ...options });

async function read<R>(session: StreamSession<R>): Promise<StreamMessage<R>[]> {
  const messages: StreamMessage<R>[] = [];
  for await (const message of session) messages.push(message);
  return messages;
}

test('a session yields the messages, and its report equals that of the file', async (t) => {
  const client = clientOf();
  const session = await client.stream({ ...format, interval_s: 1 });
  const reading = read(session);
  for (let at = 0; at < samples.length; at += 30_001) await session.send(samples.subarray(at, at + 30_001));
  const report = await session.end();
  const want = await client.analyze(wav);
  t.deepEqual({ ...report, request_id: '' }, { ...want, request_id: '' });
  const messages = await reading;
  t.deepEqual(
    messages.map((message) => 'seq' in message && message.seq),
    messages.map((_, index) => index),
  );
  const turn = messages.find(({ type }) => type === 'turn');
  t.true(turn?.type === 'turn' && turn.emotion !== undefined && Number(turn.emotion.valence) > 0);
  t.deepEqual(
    [messages[0], ...messages.slice(-2)].map((message) => message?.type),
    ['session.ready', 'final', 'session.ended'],
  );
  t.is(await session.end(), report);
});

test('a report that arrived before the connection is lost is no failure', async (t) => {
  const lost = new WebSocketServer({ port: 0, handleProtocols: () => 'undertone.v1' });
  t.teardown(() => lost.close());
  const answers: Readonly<Record<string, object>> = {
    'session.configure': { type: 'session.ready', seq: 0, limits: { idle_s: 60 } },
    'session.end': { type: 'final', seq: 1, report: { status: 'ok' } },
  };
  lost.on('connection', (socket) =>
    socket.on('message', (data) => {
      const { type } = JSON.parse(String(data));
      socket.send(JSON.stringify(answers[type]), () => type === 'session.end' && socket.terminate());
    }),
  );
  const { port } = lost.address() as AddressInfo;
  class Lost extends WebSocket {
    constructor(_: string | URL, protocols: string[]) {
      super(`ws://127.0.0.1:${port}`, protocols);
    }
  }
  const session = await clientOf({ WebSocket: Lost }).stream(format);
  const reading = read(session);
  t.is((await session.end()).status, 'ok');
  t.deepEqual(
    (await reading).map(({ type }) => type),
    ['session.ready', 'final'],
  );
});

test('both channels are analysed alone', async (t) => {
  const stereo = Buffer.concat(
    Array.from({ length: samples.length / 2 }, (_, at) => samples.subarray(2 * at, 2 * at + 2)).flatMap(
      (sample) => [sample, sample],
    ),
  );
  const session = await clientOf().stream({ ...format, channels: 2, split: true });
  const reading = read(session);
  await session.send(stereo);
  const { channels, conversation } = await session.end();
  t.is(channels.length, 2);
  t.deepEqual(conversation.talk_share, [0.5, 0.5]);
  const turns = (await reading).filter(({ type }) => type === 'turn');
  t.deepEqual(new Set(turns.map((turn) => ('channel' in turn ? turn.channel : null))), new Set([0, 1]));
});

test('turns have a speaker', async (t) => {
  const session = await clientOf().stream({ ...format, speakers: 'auto' });
  const reading = read(session);
  await session.send(samples);
  const { speakers } = await session.end();
  t.deepEqual(
    speakers.map(({ speaker }) => speaker),
    ['1'],
  );
  const turns = (await reading).filter((message) => message.type === 'turn');
  t.true(turns.length > 0 && turns.every(({ speaker }) => speaker === '1'));
});

test('turnEnd ends the utterance, and typed arrays are samples', async (t) => {
  const session = await clientOf().stream({ ...format, signals: ['emotion'] });
  const reading = read(session);
  await session.send(new Int16Array(new Uint8Array(samples).buffer, 0, 32_000));
  session.turnEnd();
  const report = await session.end();
  t.is(report.status, 'ok');
  t.true('valence' in report.signals);
  t.true((await reading).some((message) => message.type === 'turn' && message.cause === 'turn.end'));
});

test('a page opens one session with the token of its server', async (t) => {
  const { token } = await clientOf().createStreamToken({ scopes: ['analyze:emotion'] });
  const page = createClient({ url: server().url, WebSocket });
  const session = await page.stream({ ...format, signals: ['emotion'] }, { token });
  await session.send(samples);
  t.is((await session.end()).status, 'ok');
  const again = await t.throwsAsync(page.stream(format, { token }), { instanceOf: NoAnswerError });
  t.true(again.connectionLost);
  const { token: other } = await clientOf().createStreamToken({ scopes: ['analyze:emotion'] });
  const refused = await t.throwsAsync(page.stream(format, { token: other }), { instanceOf: ApiError });
  t.like(refused, { status: 403, code: 'forbidden' });
});

test('errors have the status and the code of the service', async (t) => {
  const invalid = { ...format, sample_rate_hz: 1 };
  const wrong = await t.throwsAsync(clientOf().stream(invalid), { instanceOf: ApiError });
  t.is(wrong.status, 422);
  t.regex(wrong.message, /`sample_rate_hz`/);
  t.regex(wrong.requestId ?? '', /^[\w-]{36}$/);
  const stranger = clientOf({ token: 'any-token-of-20-characters' });
  const refused = await t.throwsAsync(stranger.stream(format), { instanceOf: ApiError });
  t.like(refused, { status: 401, code: 'unauthenticated' });
  const nobody = clientOf({ url: 'http://127.0.0.1:1', retries: 0 });
  await t.throwsAsync(nobody.stream(format, { token: 'x' }), { instanceOf: NoAnswerError });
});

test('a session without samples has no report', async (t) => {
  const session = await clientOf().stream(format);
  const reading = t.throwsAsync(read(session), { instanceOf: ApiError });
  const failed = await t.throwsAsync(session.end(), { instanceOf: ApiError });
  t.is(failed.status, 422);
  t.is(await reading, failed);
  t.is(await t.throwsAsync(session.send(samples)), failed);
});

test('a session without audio is kept open', async (t) => {
  const sent: unknown[] = [];
  class Recorder extends WebSocket {
    override send(data: string): void {
      sent.push(data);
      super.send(data);
    }
  }
  const session = await clientOf({ WebSocket: Recorder }).stream(format);
  await until(() => sent.filter((data) => data === '{"type":"keep_alive"}').length > 1);
  await session.send(samples);
  t.is((await session.end()).status, 'ok');
});

test('an abort ends the session', async (t) => {
  const controller = new AbortController();
  const session = await clientOf().stream(format, { signal: controller.signal });
  await session.send(samples.subarray(0, 32_000));
  const reason = new Error('The page is closed');
  controller.abort(reason);
  t.is(await t.throwsAsync(session.end()), reason);
  t.is(await t.throwsAsync(read(session)), reason);
  t.is(await t.throwsAsync(clientOf().stream(format, { signal: controller.signal })), reason);
});

test('the connection is opened within the timeout', async (t) => {
  const { token } = await clientOf().createStreamToken();
  server().process.kill('SIGSTOP');
  const late = t.throwsAsync(clientOf().stream(format, { token, timeoutMs: 100 }), {
    instanceOf: NoAnswerError,
    message: `Expected a session within 100 ms from ${server().url}, got none`,
  });
  await late.finally(() => server().process.kill('SIGCONT'));
});

test.serial('send waits for the connection', async (t) => {
  const own = await startServer(t);
  let socket: WebSocket | undefined;
  class Recorder extends WebSocket {
    constructor(url: URL, protocols: string[]) {
      super(url, protocols);
      socket = this;
    }
  }
  const session = await createClient({ ...own, WebSocket: Recorder }).stream({
    encoding: 'f32le',
    sample_rate_hz: 48_000,
    channels: 2,
  });
  own.process.kill('SIGSTOP');
  const sending = session.send(new Uint8Array(16 * 2 ** 20)).then(() => 'sent');
  await until(() => (socket?.bufferedAmount ?? 0) > 256 * 1024);
  own.process.kill('SIGCONT');
  t.is(await sending, 'sent');
  t.true((socket?.bufferedAmount ?? Number.POSITIVE_INFINITY) <= 256 * 1024);
});

test.serial('a session of a service that shuts down has its report', async (t) => {
  const own = await startServer(t);
  const client = createClient({ ...own, WebSocket });
  const [session, silent] = [await client.stream(format), await client.stream(format)];
  await session.send(samples);
  await until(async () => {
    const { body } = await call(own.port, { path: '/metrics' });
    return /^undertone_stream_audio_seconds_total [1-9]/m.test(body);
  });
  own.process.kill('SIGTERM');
  const ended = { name: 'SessionEndedError', code: 1001, reason: 'draining' };
  t.is((await read(session)).at(-2)?.type, 'final');
  t.like(await t.throwsAsync(session.send(samples)), ended);
  t.is((await session.end()).status, 'ok');
  t.like(await t.throwsAsync(silent.end()), ended);
});

test.serial('the global WebSocket is the default', async (t) => {
  const global = globalThis as { WebSocket?: unknown };
  const own = global.WebSocket;
  t.teardown(() => {
    global.WebSocket = own;
  });
  global.WebSocket = undefined;
  const client = createClient(server());
  await t.throwsAsync(client.stream(format), { instanceOf: TypeError, message: /package ws/ });
  global.WebSocket = WebSocket;
  const session = await client.stream(format);
  await session.send(samples);
  t.is((await session.end()).status, 'ok');
});
