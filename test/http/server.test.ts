/** The built service as a process: reports, validation errors, start and shutdown. */
import test, { type ExecutionContext } from 'ava';
import { boundary, contentType, multipart, type PartSpec, wavFile } from '../../benchmarks/upload-body.ts';
import { syntheticSignal } from '../../src/engine/golden.ts';
import { combinedReportSchema, reportSchemas } from '../../src/engine/report.ts';
import { call, heldBytes, type Reply, wire } from '../support/http.ts';
import { type Server, spawnServer, startServer } from '../support/server.ts';
import { share } from '../support/share.ts';
import { words } from '../support/words.ts';

function upload(
  server: Server,
  parts: readonly PartSpec[] | Uint8Array,
  path = '/v1/analyze',
): Promise<Reply> {
  const headers = {
    'Content-Type': contentType,
    Authorization: `Bearer ${server.token}`,
    'X-Request-Id': 'id-1',
  };
  const body = parts instanceof Uint8Array ? parts : multipart(parts);
  return call(server.port, { method: 'POST', path, headers, body });
}

/** A shutdown that waits for requests would take ten minutes. */
const unhurried = { UNDERTONE_SHUTDOWN_S: '600' };
const stoppingLine = /"msg":"stopping"/;
const sound = { name: 'audio', bytes: wavFile(syntheticSignal(1, 3)) };

const calm = share(test, (t) => startServer(t, unhurried));

test.serial('each analysis responds with its own report', async (t) => {
  const server = calm();
  const schemas = {
    '/v1/analyze/emotion': reportSchemas.emotion,
    '/v1/analyze/cognitive': reportSchemas.cognitive,
    '/v1/analyze': combinedReportSchema,
  };
  for (const [path, schema] of Object.entries(schemas)) {
    const reply = await upload(server, [{ ...sound, type: 'audio/wav', filename: 'secret-name.wav' }], path);
    t.is(reply.status, 200, reply.body);
    t.is(reply.headers['content-type'], 'application/json');
    const report = schema.parse(JSON.parse(reply.body));
    t.is(report.request_id, 'id-1');
    t.is(report.audio.duration_s, 3);
    t.regex(
      String(reply.headers['server-timing']),
      /upload;dur=.*queue;dur=.*multipart;dur=.*decode;dur=.*report;dur=/,
    );
    t.is((await upload(server, [sound], path)).body, reply.body);
  }
  const models = JSON.parse((await call(server.port, { path: '/v1/models' })).body).models;
  t.deepEqual(
    models.map(({ kind }: { kind: string }) => kind).sort(),
    words`
    activity cognitive emotion trunk voice
  `,
  );
  t.is(server.stdout(), `listening on ${server.url}\n`);
  t.false(/secret-name|static-token/.test(server.stderr()));
  for (const line of server.stderr().trim().split('\n')) t.notThrows(() => JSON.parse(line));
  t.is(await heldBytes(server.port), 0);
});

const garbage = Buffer.from('this is a text and no recording, whatever its name says; '.repeat(40));
const wav = (samples: number, rate?: number, channels?: number) =>
  wavFile(new Float32Array(samples), rate, channels);
/** RIFF and WAVE without a format chunk. */
const damaged = Buffer.concat([wav(8).subarray(0, 12), Buffer.from('junk\x04\0\0\0junk')]);
const audio = (bytes: Uint8Array | string): readonly PartSpec[] => [{ name: 'audio', bytes }];
const withPart = (name: string, bytes: Uint8Array | string): readonly PartSpec[] => [sound, { name, bytes }];

const missingAudio = (gotAndTodo: string) =>
  `field required: expected a recording in the part \`audio\` of a form (multipart/form-data), got ${gotAndTodo}: curl -F audio=@recording.wav`;

const rawMuLaw =
  'Expected an audio file, got raw mu-law samples, which have no header: convert them, such as with ffmpeg -f mulaw -ar 8000 -i FILE recording.wav';

type Refusal = readonly [field: string, type: string, parts: readonly PartSpec[], message?: string];

const refusals: Readonly<Record<string, Refusal>> = {
  'no audio part': [
    'audio',
    'missing',
    [{ name: 'file', bytes: 'x' }],
    missingAudio('a form with `file`. Name the part `audio`'),
  ],
  'no bytes': ['audio', 'audio.empty', audio(''), 'Expected a recording for `audio`, got no bytes'],
  'no samples': ['audio', 'audio.empty', audio(wav(0))],
  'text/plain': ['audio', 'audio.content_type', [{ ...sound, type: 'text/plain' }]],
  'no audio format': ['audio', 'audio.unsupported', audio(garbage)],
  'raw samples by content type': [
    'audio',
    'audio.unsupported',
    [{ ...sound, type: 'audio/pcmu', bytes: new Uint8Array(4000) }],
    rawMuLaw,
  ],
  'raw samples by file name': [
    'audio',
    'audio.unsupported',
    [{ ...sound, filename: 'call.ul', bytes: new Uint8Array(4000) }],
    rawMuLaw,
  ],
  'a damaged recording': ['audio', 'audio.malformed', audio(damaged)],
  'too long a recording': [
    'audio',
    'audio.too_long',
    audio(wav(5 * 16_000)),
    'Expected at most 4 s of audio, got more: UNDERTONE_MAX_SECONDS sets the limit, and POST /v1/jobs takes up to 43200 s',
  ],
  'too many channels': ['audio', 'audio.too_many_channels', audio(wav(9 * 1600, 16_000, 9))],
  'too high a sample rate': ['audio', 'audio.sample_rate', audio(wav(40_000, 400_000))],
  'too low a sample rate': ['audio', 'audio.sample_rate', audio(wav(4000, 2000))],
  'a missing channel': ['channel', 'audio.channel', withPart('channel', '1')],
  'a channel that is no number': ['channel', 'audio.channel', withPart('channel', 'left')],
  'a missing track': [
    'track',
    'audio.track',
    withPart('track', '1'),
    'Expected 0, the only track, for `track`, got 1',
  ],
  'a track by name': ['track', 'audio.track', withPart('track', 'microphone')],
  'channels of a mono recording': [
    'channels',
    'audio.channel',
    withPart('channels', 'split'),
    'Expected a recording with 2 channels, got 1; `speakers` separates voices on one channel',
  ],
  'unknown channels': [
    'channels',
    'channels',
    withPart('channels', 'mix'),
    'Expected split for `channels`, got something else',
  ],
  'channels with a channel': [
    'channels',
    'channels',
    [...withPart('channels', 'split'), { name: 'channel', bytes: '0' }],
    'Expected no `channel` with `channels`, got both',
  ],
  'channels with a baseline': [
    'channels',
    'channels',
    [...withPart('channels', 'split'), { name: 'baseline', bytes: sound.bytes }],
    'Expected no `baseline` with `channels`, got both',
  ],
  'invalid segments': [
    'segments',
    'segments',
    withPart('segments', '[{"start":1,"end":0,"speaker":"A"}]'),
    'Expected an end after the start, in `segments[0]`, got something else',
  ],
  'seven voices': [
    'speakers',
    'speakers',
    withPart('speakers', '7'),
    'Expected 2 to 6 or auto for `speakers`, got something else',
  ],
  'voices with segments': [
    'speakers',
    'speakers',
    [...withPart('speakers', '2'), { name: 'segments', bytes: '[{"start":0,"end":1,"speaker":"A"}]' }],
    'Expected no `segments` with `speakers`, got both',
  ],
  'an empty baseline': ['baseline', 'audio.empty', withPart('baseline', '')],
  'a baseline that is no audio': ['baseline', 'audio.unsupported', withPart('baseline', garbage)],
};

const otherBodies: Readonly<Record<string, string>> = {
  'audio/wav': 'the file itself as audio/wav',
  'application/json; charset=utf-8': 'JSON (application/json)',
  'application/x-www-form-urlencoded': 'a body of application/x-www-form-urlencoded',
  '': 'no Content-Type',
};

test.serial('every invalid recording is a 422 with a location and a reason', async (t) => {
  const server = await startServer(t, { UNDERTONE_MAX_SECONDS: '4' });
  for (const [name, [field, type, parts, message]] of Object.entries(refusals)) {
    const reply = await upload(server, parts);
    t.is(reply.status, 422, `${name}: ${reply.body}`);
    const msg: string = message ?? JSON.parse(reply.body).detail?.[0]?.msg;
    const detail = [{ loc: ['body', field], msg, type: `value_error.${type}` }];
    t.is(reply.body, JSON.stringify({ detail, request_id: 'id-1' }), name);
    t.true(msg.length > 5, name);
  }
  const cut = await upload(
    server,
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="audio"\r\n\r\nx`),
  );
  t.is(
    cut.body,
    '{"detail":[{"loc":["body","audio"],"msg":"Expected a closing boundary for `body`, got the end of the body","type":"value_error.multipart"}],"request_id":"id-1"}',
  );
  for (const [type, got] of Object.entries(otherBodies)) {
    const reply = await call(server.port, {
      method: 'POST',
      path: '/v1/analyze',
      headers: { Authorization: `Bearer ${server.token}`, ...(type === '' ? {} : { 'Content-Type': type }) },
      body: sound.bytes,
    });
    t.is(reply.status, 422, type);
    const msg = missingAudio(`${got}. Send the file as a form`);
    const detail = [{ loc: ['body', 'audio'], msg, type: 'value_error.missing' }];
    t.deepEqual(JSON.parse(reply.body).detail, detail, type);
  }
  t.is(await heldBytes(server.port), 0);
});

test.serial('silent connections do not delay the shutdown', async (t) => {
  const server = calm();
  const silent = await wire(server.port);
  const idle = await wire(server.port);
  idle.socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
  await idle.until(/\{\}$/);
  const started = performance.now();
  t.deepEqual(await server.stop('SIGINT'), { code: 0, signal: null });
  t.true(performance.now() - started < 1000 * (Number(unhurried.UNDERTONE_SHUTDOWN_S) / 2));
  silent.socket.destroy();
  idle.socket.destroy();
});

test.serial('requests that outlast the shutdown time get 503', async (t) => {
  const server = await startServer(t, { UNDERTONE_SHUTDOWN_S: '2' });
  const client = await wire(server.port);
  client.socket.write(
    `POST /v1/analyze HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: ${contentType}\r\nContent-Length: 100\r\n\r\n`,
  );
  const started = performance.now();
  const exit = server.stop();
  t.regex(await client.ended(), /^HTTP\/1\.1 503 [\s\S]*"code":"shutting_down"/);
  t.deepEqual(await exit, { code: 0, signal: null });
  // The deadline of the request is ten minutes.
  t.true(performance.now() - started < 300_000);
});

test.serial('a different signal is no repeat of the first', async (t) => {
  const server = await startServer(t, { ...unhurried, UNDERTONE_GRACE_S: unhurried.UNDERTONE_SHUTDOWN_S });
  server.process.kill('SIGINT');
  await server.logged(stoppingLine);
  t.deepEqual(await server.stop('SIGTERM'), { code: 1, signal: null });
});

async function exitOf(t: ExecutionContext, env: Readonly<Record<string, string>>) {
  const server = await spawnServer(t, env);
  const exit = await server.exit;
  return { exit, stdout: server.stdout(), stderr: server.stderr() };
}

test.serial('an invalid configuration exits with code 2 and lists every problem', async (t) => {
  const ended = await exitOf(t, {
    UNDERTONE_PORT: 'x',
    UNDERTONE_WORKERS: '0',
    UNDERTONE_COLOUR: 'blue',
    UNDERTONE_TOKEN: 'short',
  });
  t.deepEqual(ended.exit, { code: 2, signal: null });
  t.is(ended.stdout, '');
  t.regex(ended.stderr, /^(Expected [^\n]+\n){4}$/);
});

test.serial('metrics can have a separate address', async (t) => {
  const server = await startServer(t, {
    UNDERTONE_METRICS_ADDRESS: '127.0.0.1:0',
    UNDERTONE_PUBLIC_URL: 'https://voice.example',
  });
  const url = (await server.logged(/"url":"(http:[^"]+)"/))[1] ?? '';
  const port = Number(new URL(url).port);
  t.regex((await call(port, { path: '/metrics' })).body, /^undertone_ready 1$/m);
  t.is((await call(port, { path: '/health' })).status, 404);
  t.is((await call(port, { method: 'POST', path: '/metrics' })).headers.allow, 'GET, HEAD');
  t.is((await call(server.port, { path: '/metrics' })).status, 404);
  for (const [host, status] of [
    ['rebound.example', 421],
    [`rebound.example:${port}`, 421],
    ['localhost', 200],
    [`127.0.0.1:${port}`, 200],
    ['[::1]', 200],
    ['voice.example', 200],
  ] as const)
    t.is((await call(port, { path: '/metrics', headers: { Host: host } })).status, status, host);
});
