/** Live sessions of the real service. */
import test from 'ava';
import fc from 'fast-check';
import { fixture } from '../../scripts/recordings.ts';
import { wavHeader } from '../../src/engine/pcm.ts';
import { call } from '../support/http.ts';
import { withoutVoice } from '../support/models.ts';
import { talk } from '../support/recordings.ts';
import { startServer } from '../support/server.ts';
import { share } from '../support/share.ts';
import {
  analyzeFile,
  connectStream,
  dataOf,
  type Message,
  parseMessage,
  type StreamClient,
  speechSamples,
} from '../support/stream-client.ts';
import { until } from '../support/wait.ts';

const monoConfig = {
  type: 'session.configure',
  encoding: 's16le',
  sample_rate_hz: 16_000,
  channels: 1,
} as const;

const server = share(test, (t) => startServer(t, { UNDERTONE_MAX_SECONDS: '1000' }));
const small = share(test, (t) =>
  startServer(t, { UNDERTONE_STREAM_SESSIONS: '10', UNDERTONE_MAX_SECONDS: '2' }),
);

async function open(
  options: Partial<Parameters<typeof connectStream>[1]> = {},
  on = server(),
): Promise<StreamClient> {
  return connectStream(on.port, { token: on.token, ...options });
}

/** The report of the last message but one, as text. */
function reportText({ texts }: StreamClient): string {
  const final = texts.at(-2) ?? '';
  return final.slice(final.indexOf('"report":') + '"report":'.length, -1);
}

async function metric(name: string): Promise<number> {
  const { body } = await call(server().port, { path: '/metrics' });
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(body)?.[1]);
}

const formats = [
  ['mono-16k.wav', { encoding: 's16le', sample_rate_hz: 16_000, channels: 1 }],
  ['mono-8k.wav', { encoding: 's16le', sample_rate_hz: 8000, channels: 1 }],
  ['mulaw.wav', { encoding: 'mulaw' }],
  ['alaw.wav', { encoding: 'alaw' }],
  ['f32.wav', { encoding: 'f32le' }],
] as const;

for (const [file, format] of formats) {
  test(`the report of ${file} equals that of an upload of its samples`, async (t) => {
    const wav = Buffer.from(fixture(file));
    const session = await open({ headers: { 'X-Request-Id': 'id-of-the-test' } });
    const measured = { channels: wav.readUInt16LE(22), sample_rate_hz: wav.readUInt32LE(24) };
    session.send({ type: 'session.configure', ...measured, ...format });
    const samples = dataOf(wav);
    for (let at = 0; at < samples.length; at += 2 ** 20)
      session.socket.send(samples.subarray(at, at + 2 ** 20));
    session.send({ type: 'session.end' });
    t.deepEqual(await session.closed, { code: 1000, reason: 'done' });
    const { body } = await analyzeFile(server().port, server().token, wav, 'id-of-the-test');
    t.is(reportText(session), body);
    t.is(JSON.parse(body).status, 'ok');
  });
}

/** All messages of a session whose audio is cut at the given bytes; the application ends a turn after `turnAt` bytes. */
async function streamCut(audio: Buffer, cuts: readonly number[], turnAt: number): Promise<readonly string[]> {
  const session = await open({ headers: { 'X-Request-Id': 'same' } });
  session.send({
    type: 'session.configure',
    encoding: 's16le',
    sample_rate_hz: 16_000,
    channels: 2,
    interval_s: 1,
  });
  const bounds = [...new Set([...cuts.map((cut) => cut % audio.length), turnAt, audio.length])].sort(
    (a, b) => a - b,
  );
  let from = 0;
  for (const to of bounds) {
    session.socket.send(audio.subarray(from, to));
    if (to === turnAt) session.send({ type: 'turn.end' });
    from = to;
  }
  session.send({ type: 'session.end' });
  await session.closed;
  return session.texts;
}

test('how the audio is cut into frames changes no byte of any message', async (t) => {
  const mono = speechSamples(3);
  const audio = Buffer.alloc(2 * mono.length);
  for (let at = 0; at < mono.length; at += 2) {
    mono.copy(audio, 2 * at, at, at + 2);
    mono.copy(audio, 2 * at + 2, at, at + 2);
  }
  const turnAt = 64_000 * 1.3;
  const whole = await streamCut(audio, [], turnAt);
  const types = new Set(whole.map((text) => parseMessage(text).type));
  t.deepEqual([...types].sort(), [
    'final',
    'measurement',
    'session.ended',
    'session.ready',
    'speech.ended',
    'speech.started',
    'turn',
  ]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(audio.length - 1), { maxLength: 200 }), async (cuts) => {
      t.deepEqual(await streamCut(audio, cuts, turnAt), whole);
    }),
    { numRuns: 12 },
  );
});

test('speakers: turns have a speaker, and the report is that of an upload', async (t) => {
  const { samples } = talk(['low', 'high'], 0.6);
  const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  const session = await open({ headers: { 'X-Request-Id': 'same' } });
  session.send({ ...monoConfig, encoding: 'f32le', speakers: 'auto' });
  for (let at = 0; at < bytes.length; at += 2 ** 20) session.socket.send(bytes.subarray(at, at + 2 ** 20));
  session.send({ type: 'session.end' });
  t.is((await session.closed).code, 1000);
  const format = { encoding: 'f32le', sampleRate: 16_000, channels: 1 } as const;
  const wav = Buffer.concat([wavHeader(format, bytes.length), bytes]);
  const { body } = await analyzeFile(server().port, server().token, wav, 'same', { speakers: 'auto' });
  t.is(reportText(session), body);
  const speakers = session.messages('turn').map(({ speaker }) => speaker);
  t.deepEqual(new Set(speakers), new Set(['1', '2']));
});

test('speakers: a set without a voice model refuses them before any audio', async (t) => {
  const lacking = await startServer(t, { UNDERTONE_MODELS_DIR: await withoutVoice(t) });
  const session = await open({}, lacking);
  session.send({ ...monoConfig, speakers: '2' });
  t.is((await session.closed).code, 4422);
  t.deepEqual(
    session.texts.map((text) => parseMessage(text).type),
    ['error', 'session.ended'],
  );
  t.regex(session.texts[0] ?? '', /Expected models with a voice model for `speakers`, got none/);
});

test('split: each channel has its messages, and the report of channels=split', async (t) => {
  const [first, second] = [speechSamples(6), Buffer.alloc(6 * 32_000)];
  speechSamples(3).copy(second, 3 * 32_000);
  const samples = Buffer.alloc(2 * first.length);
  for (let at = 0; at < first.length; at += 2) {
    first.copy(samples, 2 * at, at, at + 2);
    second.copy(samples, 2 * at + 2, at, at + 2);
  }
  const format = { encoding: 's16le', sample_rate_hz: 16_000, channels: 2 } as const;
  const session = await open({ headers: { 'X-Request-Id': 'same' } });
  session.send({ type: 'session.configure', ...format, split: true });
  session.socket.send(samples);
  session.send({ type: 'session.end' });
  t.is((await session.closed).code, 1000);
  const wav = Buffer.concat([
    wavHeader({ ...format, sampleRate: format.sample_rate_hz }, samples.length),
    samples,
  ]);
  const { body } = await analyzeFile(server().port, server().token, wav, 'same', { channels: 'split' });
  t.is(reportText(session), body);
  const started = session.messages('speech.started').map(({ channel }) => channel);
  t.deepEqual([started[0], started.at(-1)], [0, 1]);
  for (const type of ['turn', 'measurement']) {
    t.deepEqual(new Set(session.messages(type).map(({ channel }) => channel)), new Set([0, 1]));
  }
  const alone = await open();
  alone.send({ ...monoConfig, channels: 1 });
  alone.socket.send(first);
  alone.send({ type: 'session.end' });
  await alone.closed;
  const turns = ({ channel: _, seq: __, ...turn }: Message) => turn;
  t.deepEqual(
    session
      .messages('turn')
      .filter(({ channel }) => channel === 0)
      .map(turns),
    alone.messages('turn').map(turns),
  );
});

test('provisional messages come before the end of the stream, in order', async (t) => {
  const session = await open();
  session.send(monoConfig);
  session.socket.send(speechSamples(4));
  const measurement = await session.first('measurement');
  // Speech detection looks ahead.
  t.true((measurement.end_s as number) > 2.7 && (measurement.end_s as number) <= 3, `${measurement.end_s}`);
  t.true(measurement.provisional);
  t.is((await session.first('speech.started')).type, 'speech.started');
  t.deepEqual(session.messages('final'), []);
  session.send({ type: 'turn.end' });
  const turn = await session.first('turn');
  t.deepEqual(Object.keys(turn.emotion as object), [
    'valence',
    'arousal',
    'dominant_emotion',
    'emotions',
    'confidence',
    'intervals',
    'relative',
  ]);
  session.send({ type: 'session.end' });
  await session.closed;
  t.deepEqual(
    session.messages().map(({ seq }) => seq),
    session.texts.map((_, index) => index),
  );
});

test('a session of one signal has the report of that signal', async (t) => {
  const session = await open();
  session.send({ ...monoConfig, signals: ['cognitive'] });
  session.socket.send(speechSamples(3));
  session.send({ type: 'session.end' });
  await session.closed;
  t.is(JSON.parse(reportText(session)).model.name, 'cognitive');
  t.true(
    session.messages('measurement').every((message) => 'cognitive' in message && !('emotion' in message)),
  );
  const [turn] = session.messages('turn');
  t.deepEqual(Object.keys(turn ?? {}), ['type', 'seq', 'start_s', 'end_s', 'provisional', 'cause']);
});

/** What a client sends, and the code and the last error of the session. */
const closings: Readonly<
  Record<string, readonly [send: (session: StreamClient) => void, code: number, error: string]>
> = {
  'text that is no message': [({ socket }) => socket.send('{'), 1007, 'bad_request'],
  'a message of an unknown type': [({ send }) => send({ type: 'speak' }), 1007, 'bad_request'],
  'the start of a media stream': [
    ({ send }) => send({ event: 'connected', protocol: 'Call', version: '1.0.0' }),
    1007,
    'decode its base64, send the bytes as binary frames.*s16le, f32le, mulaw, alaw',
  ],
  'audio of a media stream': [
    ({ send }) => send({ event: 'media', media: { track: 'inbound', payload: '/v7+fn7+'.repeat(27) } }),
    1007,
    'a message of a media stream',
  ],
  'audio as base64 in another message': [
    ({ send }) => send({ type: 'input_audio_buffer.append', audio: 'AAD/'.repeat(5000) }),
    1007,
    'a message of a media stream',
  ],
  'audio before session.configure': [({ socket }) => socket.send(Buffer.alloc(2)), 1008, 'bad_request'],
  'a turn before session.configure': [({ send }) => send({ type: 'turn.end' }), 1008, 'bad_request'],
  'a second session.configure': [
    ({ send }) => {
      send(monoConfig);
      send(monoConfig);
    },
    1008,
    'bad_request',
  ],
  'an unknown encoding': [({ send }) => send({ ...monoConfig, encoding: 'opus' }), 4422, 'invalid'],
  'a sample rate of 4 kHz': [({ send }) => send({ ...monoConfig, sample_rate_hz: 4000 }), 4422, 'invalid'],
  'split of one channel': [({ send }) => send({ ...monoConfig, split: true }), 4422, 'invalid'],
  'split of one signal': [
    ({ send }) => send({ ...monoConfig, channels: 2, split: true, signals: ['emotion'] }),
    4422,
    'invalid',
  ],
  'seven speakers': [({ send }) => send({ ...monoConfig, speakers: '7' }), 4422, 'text: 2 to 6 or auto'],
  'speakers of one signal': [
    ({ send }) => send({ ...monoConfig, speakers: '2', signals: ['emotion'] }),
    4422,
    'invalid',
  ],
  'speakers with split': [
    ({ send }) => send({ ...monoConfig, channels: 2, split: true, speakers: '2' }),
    4422,
    'Expected no `speakers` with `split`',
  ],
  'an unknown field': [({ send }) => send({ ...monoConfig, volume: 1 }), 4422, 'got `volume`'],
  'an interval between two steps': [({ send }) => send({ ...monoConfig, interval_s: 1.1 }), 4422, 'invalid'],
  'no samples': [
    ({ send }) => {
      send(monoConfig);
      send({ type: 'session.end' });
    },
    4422,
    'Expected samples for `audio`, got none',
  ],
  'too many messages': [
    ({ send }) => {
      for (let count = 0; count < 300; count++) send({ type: 'keep_alive' });
    },
    4429,
    'rate_limited',
  ],
};

for (const [name, [send, code, error]] of Object.entries(closings)) {
  test(`${name}: ${code} after the error`, async (t) => {
    const session = await open();
    send(session);
    t.is((await session.closed).code, code);
    const [last, ended] = session.messages().slice(-2);
    t.is(last?.type, 'error');
    t.regex(JSON.stringify(last), new RegExp(error));
    t.is(ended?.type, 'session.ended');
    t.is(ended?.code, code);
  });
}

test('a frame over 1 MiB: 1009', async (t) => {
  const session = await open();
  session.send(monoConfig);
  session.socket.send(Buffer.alloc(2 ** 20 + 2));
  t.is((await session.closed).code, 1009);
});

test('a session that ends before session.configure has no report', async (t) => {
  const session = await open();
  session.send({ type: 'session.end' });
  t.is((await session.closed).code, 1000);
  t.deepEqual(
    session.messages().map(({ type }) => type),
    ['session.ended'],
  );
});

test('audio in frames of 128 bytes is read to its end, faster than the account may send', async (t) => {
  const session = await open({}, small());
  session.send(monoConfig);
  const samples = speechSamples(12);
  for (let at = 0; at < samples.length; at += 128) session.socket.send(samples.subarray(at, at + 128));
  session.send({ type: 'session.end' });
  t.is((await session.closed).code, 1000);
  t.is(JSON.parse(reportText(session)).audio.duration_s, samples.length / 32_000);
});

test('the limit of uploads does not apply', async (t) => {
  const session = await open({}, small());
  session.send(monoConfig);
  session.socket.send(speechSamples(4));
  session.send({ type: 'session.end' });
  t.is((await session.closed).code, 1000);
  t.is(JSON.parse(reportText(session)).audio.duration_s, 4);
});

test('a session of over 15 minutes has the report of a job', async (t) => {
  const format = { encoding: 's16le', sample_rate_hz: 8000, channels: 1 } as const;
  const speech = dataOf(fixture('mono-8k.wav'));
  const samples = Buffer.alloc(905 * 16_000);
  for (const seconds of [0, 295, 890]) samples.set(speech, seconds * 16_000);
  const session = await open({ headers: { 'X-Request-Id': 'same' } });
  session.send({ type: 'session.configure', ...format, interval_s: 60 });
  for (let at = 0; at < samples.length; at += 2 ** 20)
    session.socket.send(samples.subarray(at, at + 2 ** 20));
  session.send({ type: 'session.end' });
  t.is((await session.closed).code, 1000);
  const wav = Buffer.concat([
    wavHeader({ ...format, sampleRate: format.sample_rate_hz }, samples.length),
    samples,
  ]);
  const { body } = await analyzeFile(server().port, server().token, wav, 'same');
  t.is(reportText(session), body);
  t.is(JSON.parse(body).audio.duration_s, 905);
});

test('longer than the limit: the report of what is within it, then 4413', async (t) => {
  const short = await startServer(t, { UNDERTONE_STREAM_MAX_SECONDS: '2' });
  const session = await open({ headers: { 'X-Request-Id': 'same' } }, short);
  session.send(monoConfig);
  session.socket.send(speechSamples(3));
  t.deepEqual(await session.closed, { code: 4413, reason: 'tooLong' });
  t.is(JSON.parse(reportText(session)).audio.duration_s, 2);
});

test('no audio and no message for a while: the open utterance and the report, then 4408', async (t) => {
  const impatient = await startServer(t, { UNDERTONE_STREAM_IDLE_S: '4' });
  const [session, silent] = [await open({}, impatient), await open({}, impatient)];
  session.send(monoConfig);
  session.socket.send(speechSamples(2));
  // A ping is no audio.
  const timer = setInterval(() => session.socket.ping(), 1000);
  t.deepEqual(await session.closed, { code: 4408, reason: 'idle' });
  clearInterval(timer);
  t.is(JSON.parse(reportText(session)).audio.duration_s, 2);
  t.is(session.messages('turn').at(-1)?.cause, 'session.end');
  t.deepEqual(await silent.closed, { code: 4408, reason: 'idle' });
  t.deepEqual(silent.messages('final'), []);
});

test('out of memory for audio: the report of what there is, then 1013', async (t) => {
  const full = await startServer(t, { UNDERTONE_STREAM_BUFFER_BYTES: '100000' });
  const session = await open({}, full);
  session.send(monoConfig);
  session.socket.send(speechSamples(2));
  session.socket.send(speechSamples(2));
  t.is((await session.closed).code, 1013);
  t.is(JSON.parse(reportText(session)).audio.duration_s, 2);
});

test('SIGTERM: the report, then 1001, and the process ends', async (t) => {
  const draining = await startServer(t, { UNDERTONE_GRACE_S: '0.1' });
  const session = await open({}, draining);
  const waiting = await open({}, draining);
  session.send(monoConfig);
  session.socket.send(speechSamples(2));
  await session.first('speech.started');
  const stopped = draining.stop('SIGTERM');
  t.deepEqual(await session.closed, { code: 1001, reason: 'draining' });
  t.is(JSON.parse(reportText(session)).audio.duration_s, 2);
  t.is((await waiting.closed).code, 1001);
  await stopped;
});

test.serial('nothing stays of sessions whose clients vanish', async (t) => {
  const sessions = await Promise.all(Array.from({ length: 20 }, () => open()));
  for (const session of sessions) {
    session.send(monoConfig);
    session.socket.send(speechSamples(2));
  }
  await until(async () => (await metric('undertone_stream_held_bytes')) > 0);
  for (const session of sessions) session.socket.terminate();
  await until(async () => (await metric('undertone_stream_sessions')) === 0);
  t.is(await metric('undertone_stream_held_bytes'), 0);
});
