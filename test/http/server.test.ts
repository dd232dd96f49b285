/** The built service as a process: reports, validation errors, start and shutdown. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { boundary, contentType, multipart, type PartSpec, toneFile } from '../../benchmarks/upload-body.ts';
import { wavFile } from '../../benchmarks/wav.ts';
import { combinedReportSchema, reportSchemas } from '../../src/analysis/report.ts';
import { syntheticSignal } from '../../src/models/golden.ts';
import { call, type Reply, wire } from '../support/http.ts';
import { type Server, spawnServer, startServer, staticToken } from '../support/server.ts';
import { until } from '../support/wait.ts';

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

async function heldBytes(server: Server): Promise<number> {
  const { body } = await call(server.port, { path: '/metrics' });
  return Number(/^undertone_held_bytes (\d+)$/m.exec(body)?.[1]);
}

/** A shutdown that waits for requests would take ten minutes. */
const unhurried = { UNDERTONE_SHUTDOWN_S: '600' };
const stoppingLine = /"msg":"stopping"/;
const sound = { name: 'audio', bytes: wavFile(syntheticSignal(1, 3)) };

test.serial('each analysis responds with its own report', async (t) => {
  const server = await startServer(t);
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
  t.deepEqual(models.map(({ kind }: { kind: string }) => kind).sort(), [
    'activity',
    'cognitive',
    'emotion',
    'trunk',
  ]);
  t.is(server.stdout(), `listening on ${server.url}\n`);
  t.false(/secret-name|static-token/.test(server.stderr()));
  for (const line of server.stderr().trim().split('\n')) t.notThrows(() => JSON.parse(line));
  t.is(await heldBytes(server), 0);
});

test.serial('a tone has status insufficient_speech', async (t) => {
  const server = await startServer(t);
  const report = JSON.parse((await upload(server, [{ name: 'audio', bytes: toneFile(2) }])).body);
  t.is(report.status, 'insufficient_speech');
  t.deepEqual(report.emotion.signals, {});
});

type Refusal = {
  readonly loc: string;
  readonly type: string;
  readonly parts: readonly PartSpec[];
  readonly msg?: string;
};

const garbage = Buffer.from('this is a text and no recording, whatever its name says; '.repeat(40));
const emptyWav = wavFile(new Float32Array(0));
/** RIFF and WAVE without a format chunk. */
const broken = Buffer.concat([
  wavFile(new Float32Array(8)).subarray(0, 12),
  Buffer.from('junk\x04\0\0\0junk'),
]);
const manyChannels = wavFile(new Float32Array(9 * 1600), 16_000, 9);
const fast = wavFile(new Float32Array(40_000), 400_000);
const slow = wavFile(new Float32Array(4000), 2000);
const long = wavFile(new Float32Array(5 * 16_000));

const refusals: Readonly<Record<string, Refusal>> = {
  'no audio part': {
    loc: 'audio',
    type: 'missing',
    parts: [{ name: 'file', bytes: 'x' }],
    msg: 'field required',
  },
  'no bytes': {
    loc: 'audio',
    type: 'audio.empty',
    parts: [{ name: 'audio', bytes: '' }],
    msg: 'Expected a recording for `audio`, got no bytes',
  },
  'no samples': { loc: 'audio', type: 'audio.empty', parts: [{ name: 'audio', bytes: emptyWav }] },
  'another content type': {
    loc: 'audio',
    type: 'audio.content_type',
    parts: [{ ...sound, type: 'text/plain' }],
  },
  'what is no audio': {
    loc: 'audio',
    type: 'audio.unsupported',
    parts: [{ name: 'audio', bytes: garbage, filename: 'x.wav' }],
  },
  'a broken recording': {
    loc: 'audio',
    type: 'audio.malformed',
    parts: [{ name: 'audio', bytes: broken }],
  },
  'too long a recording': { loc: 'audio', type: 'audio.too_long', parts: [{ name: 'audio', bytes: long }] },
  'too many channels': {
    loc: 'audio',
    type: 'audio.too_many_channels',
    parts: [{ name: 'audio', bytes: manyChannels }],
  },
  'too high a sample rate': {
    loc: 'audio',
    type: 'audio.sample_rate',
    parts: [{ name: 'audio', bytes: fast }],
  },
  'too low a sample rate': {
    loc: 'audio',
    type: 'audio.sample_rate',
    parts: [{ name: 'audio', bytes: slow }],
  },
  'a channel that is not there': {
    loc: 'channel',
    type: 'audio.channel',
    parts: [sound, { name: 'channel', bytes: '1' }],
  },
  'a channel that is no number': {
    loc: 'channel',
    type: 'audio.channel',
    parts: [sound, { name: 'channel', bytes: 'left' }],
  },
  'an empty baseline': {
    loc: 'baseline',
    type: 'audio.empty',
    parts: [sound, { name: 'baseline', bytes: '' }],
  },
  'a baseline that is no audio': {
    loc: 'baseline',
    type: 'audio.unsupported',
    parts: [sound, { name: 'baseline', bytes: garbage }],
  },
};

test.serial('every invalid recording is a 422 with a location and a reason', async (t) => {
  const server = await startServer(t, { UNDERTONE_MAX_SECONDS: '4' });
  for (const [name, { loc, type, parts, msg }] of Object.entries(refusals)) {
    const reply = await upload(server, parts);
    const said: string = JSON.parse(reply.body).detail?.[0]?.msg;
    t.is(reply.status, 422, `${name}: ${reply.body}`);
    const expected = {
      detail: [{ loc: ['body', loc], msg: msg ?? said, type: `value_error.${type}` }],
      request_id: 'id-1',
    };
    t.is(reply.body, JSON.stringify(expected), name);
    t.true(said.length > 5, name);
  }
  const cut = await upload(
    server,
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="audio"\r\n\r\nx`),
  );
  t.is(
    cut.body,
    '{"detail":[{"loc":["body","audio"],"msg":"Expected a closing boundary for `body`, got the end of the body","type":"value_error.multipart"}],"request_id":"id-1"}',
  );
  t.is(await heldBytes(server), 0);
});

test.serial(
  'a body far over the limit is told so, to a client that does not look before it has to',
  async (t) => {
    const server = await startServer(t);
    const form = new FormData();
    form.append('audio', new Blob([Buffer.alloc(100 * 2 ** 20)]));
    const headers = { Authorization: `Bearer ${server.token}` };
    const reply = await fetch(`${server.url}/v1/analyze`, { method: 'POST', headers, body: form });
    t.is(reply.status, 413);
    t.regex(await reply.text(), /value_error\.audio\.too_large/);
  },
);

test.serial('clients that abort at any byte leak nothing', async (t) => {
  const server = await startServer(t);
  const body = multipart([sound]);
  const head = `POST /v1/analyze HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n\r\n`;
  const bytes = Buffer.concat([Buffer.from(head), body]);
  for (let round = 0; round < 10; round++) {
    const leave = async (index: number) => {
      const client = await wire(server.port);
      client.socket.write(bytes.subarray(0, Math.round((bytes.length * index) / 19)));
      await sleep(round * 3);
      client.socket.resetAndDestroy();
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => leave(index)));
  }
  await until(async () => (await heldBytes(server)) === 0);
  t.is((await upload(server, [sound])).status, 200);
});

test.serial('SIGTERM under 32 connections completes every accepted request', async (t) => {
  // The grace period outlasts every client, even on a slow machine.
  const server = await startServer(t, { ...unhurried, UNDERTONE_QUEUE: '64', UNDERTONE_GRACE_S: '10' });
  const body = multipart([sound]);
  const headers = { 'Content-Type': contentType, Authorization: `Bearer ${server.token}` };
  const results: (number | string)[] = [];
  let stopping = false;
  const client = async () => {
    while (!stopping) {
      const asked = call(server.port, { method: 'POST', path: '/v1/analyze', headers, body });
      const result = await asked.then(
        ({ status }) => status,
        (error: NodeJS.ErrnoException) => error.code ?? 'error',
      );
      results.push(result);
      if (result !== 200) return;
    }
  };
  const clients = Array.from({ length: 32 }, client);
  await until(() => results.length > clients.length);
  server.process.kill('SIGTERM');
  await server.logged(stoppingLine);
  const ready = await call(server.port, { path: '/ready' });
  t.is(ready.status, 503);
  t.is(JSON.parse(ready.body).code, 'shutting_down');
  // Connections are refused after the grace period; earlier ones all get a response.
  const answered = results.length;
  await until(() => results.length > answered + clients.length);
  stopping = true;
  await Promise.all(clients);
  t.deepEqual(await server.exit, { code: 0, signal: null });
  t.deepEqual(
    [...new Set(results)].filter((result) => result !== 200 && result !== 503),
    [],
  );
  t.true(results.filter((result) => result === 200).length > 0);
});

test.serial('silent connections do not delay the shutdown', async (t) => {
  const server = await startServer(t, unhurried);
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

test.serial('a second signal aborts the process', async (t) => {
  const server = await startServer(t, { ...unhurried, UNDERTONE_GRACE_S: unhurried.UNDERTONE_SHUTDOWN_S });
  server.process.kill('SIGTERM');
  await server.logged(stoppingLine);
  // An earlier signal counts as a repeat of the first.
  await sleep(600);
  const started = performance.now();
  t.deepEqual(await server.stop('SIGTERM'), { code: 1, signal: null });
  t.true(performance.now() - started < 1000 * (Number(unhurried.UNDERTONE_SHUTDOWN_S) / 4));
});

test.serial('a different signal is no repeat of the first', async (t) => {
  const server = await startServer(t, { ...unhurried, UNDERTONE_GRACE_S: unhurried.UNDERTONE_SHUTDOWN_S });
  server.process.kill('SIGINT');
  await server.logged(stoppingLine);
  t.deepEqual(await server.stop('SIGTERM'), { code: 1, signal: null });
});

test.serial('a folder that cannot be created exits with code 1 and one line', async (t) => {
  const ended = await exitOf(t, { UNDERTONE_DATA_DIR: '/proc/undertone/data' });
  t.deepEqual(ended.exit, { code: 1, signal: null });
  t.regex(ended.stderr, /^The service cannot start: .*'\/proc\/undertone'\n$/);
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
  t.is(
    ended.stderr,
    [
      'Expected a known setting, got `UNDERTONE_COLOUR`',
      'Expected an integer from 0 to 65535 for `UNDERTONE_PORT`, got "x"',
      'Expected 20 to 512 characters of a Bearer token for `UNDERTONE_TOKEN`, got 5 characters',
      'Expected an integer from 1 to 1024 for `UNDERTONE_WORKERS`, got "0"',
      '',
    ].join('\n'),
  );
});

test.serial('unreadable models exit with code 1', async (t) => {
  const ended = await exitOf(t, { UNDERTONE_MODELS_DIR: '/nowhere' });
  t.deepEqual(ended.exit, { code: 1, signal: null });
  t.is(ended.stderr, 'Expected a folder of models, got /nowhere, which cannot be read\n');
});

test.serial('a port in use exits with code 1', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.teardown(() => other.close());
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  const ended = await exitOf(t, { UNDERTONE_PORT: port });
  t.deepEqual(ended.exit, { code: 1, signal: null });
  t.regex(ended.stderr, /EADDRINUSE/);
  t.false(ended.stderr.includes(staticToken));
});

test.serial('metrics can have a separate address', async (t) => {
  const server = await startServer(t, { UNDERTONE_METRICS_ADDRESS: '127.0.0.1:0' });
  const url = (await server.logged(/"url":"(http:[^"]+)"/))[1] ?? '';
  const port = Number(new URL(url).port);
  t.regex((await call(port, { path: '/metrics' })).body, /^undertone_ready 1$/m);
  t.is((await call(port, { path: '/health' })).status, 404);
  t.is((await call(port, { method: 'POST', path: '/metrics' })).headers.allow, 'GET, HEAD');
  t.is((await call(server.port, { path: '/metrics' })).status, 404);
});
