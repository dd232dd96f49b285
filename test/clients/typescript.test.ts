import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, createReadStream, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';
import { toneFile } from '../../benchmarks/upload-body.ts';
import {
  ApiError,
  createClient,
  NoAnswerError,
  type Recording,
  ValidationError,
} from '../../clients/typescript/src/index.ts';
import { clients } from '../../scripts/clients.ts';
import { fixture } from '../../scripts/recordings.ts';
import { hasChromium, openChromium } from '../support/chromium.ts';
import { makeFolder } from '../support/folder.ts';
import { startScriptedServer } from '../support/scripted-server.ts';
import { startServer } from '../support/server.ts';
import { share } from '../support/share.ts';
import { dataOf } from '../support/stream-client.ts';
import { ceilingMs } from '../support/wait.ts';

const shared = share(test, startServer);
const folderOfClient = clients.typescript;
const path = 'examples/sample.wav';
const bytes = readFileSync(path);
const token = 'any-token-of-20-characters';
const overloaded = {
  status: 503,
  body: { detail: 'busy', code: 'overloaded', request_id: 'id-1' },
  headers: { 'X-Request-Id': 'id-1' },
};

test.serial('every kind of recording gives the same report', async (t) => {
  const server = shared();
  const client = createClient(server);
  const want = await client.emotion(path);
  const recordings: Recording[] = [
    new Uint8Array(bytes),
    new Uint8Array(bytes).buffer,
    new Blob([bytes]),
    new Blob([bytes]).stream(),
    createReadStream(path),
  ];
  for (const recording of recordings) {
    const got = await client.emotion(recording);
    t.deepEqual({ ...got, request_id: '' }, { ...want, request_id: '' });
  }
  t.deepEqual((await client.analyze(path)).emotion.signals, want.signals);
});

test('what is no recording is refused before it is sent', async (t) => {
  const client = createClient({ url: 'http://127.0.0.1:1', token });
  const end = createReadStream(path);
  await end.toArray();
  const wrong = [
    [undefined, /`audio`, got undefined$/],
    [7, /`audio`, got 7$/],
    [{}, /`audio`, got \[object Object\]$/],
    [end, /`audio`, got a stream at its end/],
  ] as const;
  for (const [value, message] of wrong) {
    const recording = value as unknown as Recording;
    for (const call of [client.analyze, client.emotion, client.jobs.submit])
      await t.throwsAsync(call(recording), { instanceOf: TypeError, message });
  }
  const baseline = null as unknown as Recording;
  await t.throwsAsync(client.emotion(path, { baseline }), { message: /`baseline`, got null$/ });
});

test.serial('a redirect is refused, and its target receives nothing', async (t) => {
  const target = await startScriptedServer(t, [overloaded]);
  const location = { Location: `${target.url}/v1/analyze` };
  const hostile = await startScriptedServer(t, [{ status: 307, body: {}, headers: location }]);
  const client = createClient({ ...hostile, token, retries: 0 });
  await t.throwsAsync(client.analyze(path), { instanceOf: NoAnswerError });
  t.is(hostile.lengths.length, 1);
  t.deepEqual(target.lengths, []);
});

test.serial('baseline and channel are sent, and errors contain the reason', async (t) => {
  const server = shared();
  const client = createClient(server);
  t.true((await client.cognitive(path, { baseline: [bytes, path], channel: 0 })).relative);
  const wrong = await t.throwsAsync(client.cognitive(path, { channel: 7 }), { instanceOf: ValidationError });
  t.like(wrong, { status: 422, code: null, items: [{ loc: ['body', 'channel'] }] });
  t.is(wrong.items[0]?.type, 'value_error.audio.channel');
  t.regex(wrong.requestId ?? '', /^[\w-]{36}$/);
  t.is((await client.analyze(toneFile(1))).status, 'insufficient_speech');
  const stranger = createClient({ ...server, token });
  const refused = await t.throwsAsync(stranger.analyze(path), { instanceOf: ApiError });
  t.like(refused, { status: 401, code: 'unauthenticated', name: 'UnauthenticatedError' });
});

test.serial('both channels, and each speaker, have a report', async (t) => {
  const client = createClient(shared());
  const stereo = fixture('speech.flac');
  const { channels, conversation, status } = await client.analyzeChannels(stereo);
  t.is(status, 'ok');
  const second = await client.analyze(stereo, { channel: 1 });
  t.deepEqual({ ...channels[1], request_id: '' }, { ...second, request_id: '' });
  t.is(conversation.talk_share.length, 2);
  const segments = [{ start: 0, end: 4, speaker: 'A' }];
  const { speakers } = await client.analyzeSpeakers(path, { segments });
  t.is(speakers[0]?.speaker, 'A');
  const voices = await client.analyzeSpeakers(path, { speakers: 'auto' });
  t.is(voices.speakers[0]?.speaker, '1');
  const wrong = {} as { speakers: '2' };
  await t.throwsAsync(client.analyzeSpeakers(path, wrong), {
    instanceOf: TypeError,
    message: /got neither$/,
  });
});

test.serial('warnings and fields of a later service are returned', async (t) => {
  const body = { status: 'ok', warnings: ['of_a_later_release'], later: 1 };
  const server = await startScriptedServer(t, [{ status: 200, body }]);
  const report: object = await createClient({ ...server, token }).emotion(bytes);
  t.deepEqual(report, body);
});

/** Cuts the waits before another attempt short. @returns how long each was to be, ms */
async function waitsOf(work: () => Promise<unknown>): Promise<number[]> {
  const real = globalThis.setTimeout;
  const waits: number[] = [];
  const short = (callback: () => void, ms = 0) => {
    // The frame that called: others, Node's fetch among them, keep their timers.
    const caller = new Error().stack?.split('\n')[2] ?? '';
    if (!caller.includes('/retry.ts')) return real(callback, ms);
    waits.push(ms);
    return real(callback, 0);
  };
  globalThis.setTimeout = short as typeof setTimeout;
  try {
    await work();
  } finally {
    globalThis.setTimeout = real;
  }
  return waits;
}

test.serial('500 and 503 are retried after 1, 2 and 4 s, with the whole upload', async (t) => {
  const server = await startScriptedServer(t, [{ status: 500 }, overloaded]);
  let failed: unknown;
  const waits = await waitsOf(async () => {
    failed = await t.throwsAsync(createClient({ ...server, token }).analyze(createReadStream(path)));
  });
  t.deepEqual(waits, [1000, 2000, 4000]);
  t.is(server.lengths.length, 4);
  t.true(server.lengths.every((length) => length === server.lengths[0] && length > bytes.length));
  t.like(failed, { status: 503, code: 'overloaded', message: 'busy', requestId: 'id-1' });
});

test.serial(
  'Retry-After is honoured, lost connections and 504 are retried, and an answer ends the retries',
  async (t) => {
    const server = await startScriptedServer(t, [
      { ...overloaded, headers: { 'Retry-After': '3' } },
      { status: null },
      { status: 504 },
      { ...overloaded, headers: { 'Retry-After': '2147484' } },
      { status: 200, body: { status: 'ok' } },
    ]);
    const waits = await waitsOf(async () => {
      t.is((await createClient({ ...server, token, retries: 4 }).analyze(bytes)).status, 'ok');
    });
    t.deepEqual(waits, [3000, 2000, 4000, 3_600_000]);
  },
);

for (const status of [400, 401, 403, 413, 422, 429, 501]) {
  test(`${status} is not retried`, async (t) => {
    const server = await startScriptedServer(t, [{ status }]);
    const failed = await t.throwsAsync(createClient({ ...server, token }).analyze(bytes));
    t.like(failed, { status });
    t.is(server.lengths.length, 1);
  });
}

test('timeouts, connection errors and aborted calls have errors of their own', async (t) => {
  const slow = await startScriptedServer(t, [{ status: 200, ms: 600_000 }]);
  const client = createClient({ ...slow, token, timeoutMs: 200 });
  const late = await t.throwsAsync(client.analyze(bytes), { instanceOf: NoAnswerError });
  t.is(late.message, `Expected an answer within 200 ms from ${slow.url}, got none`);
  const signal = AbortSignal.timeout(100);
  await t.throwsAsync(client.analyze(bytes, { signal, timeoutMs: 600_000 }), {
    any: true,
    name: 'TimeoutError',
  });
  const busy = await startScriptedServer(t, [overloaded]);
  const giveUp = AbortSignal.timeout(300);
  const waiting = createClient({ ...busy, token }).analyze(bytes, { signal: giveUp });
  await t.throwsAsync(waiting, { any: true, name: 'TimeoutError' });
  const nobody = createClient({ url: 'http://127.0.0.1:1', token, retries: 0 });
  await t.throwsAsync(nobody.analyze(bytes), { instanceOf: NoAnswerError });
});

/** As in a clone that has npm packages and no build. */
function copyOfClient(): string {
  const root = makeFolder();
  const folder = join(root, folderOfClient);
  cpSync(folderOfClient, folder, { recursive: true });
  for (const made of ['dist', 'src/schema.ts']) rmSync(join(folder, made), { recursive: true });
  for (const name of ['node_modules', 'scripts']) symlinkSync(resolve(name), join(root, name));
  return folder;
}

test.serial('the package installs and compiles with its types', async (t) => {
  const server = shared();
  const folder = makeFolder();
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  // .npmrc of the project, which npx passes on, turns scripts off.
  const install = [
    'install',
    '--offline',
    '--install-links',
    '--no-ignore-scripts',
    '--no-audit',
    '--no-fund',
    copyOfClient(),
  ];
  execFileSync('npm', install, { cwd: folder, stdio: 'pipe' });
  const program = `import { createClient, type Report, WebhookError } from 'undertone-client';
import { verifyWebhook } from 'undertone-client/webhook';
try {
  verifyWebhook('{}', {}, 'whsec_AAAA');
} catch (error) {
  console.log(error instanceof WebhookError);
}
const client = createClient({ url: '${server.url}', token: '${server.token}' });
const report: Report = await client.analyze('${resolve(path)}');
const { emotion } = report;
if (emotion.status === 'ok') {
  const { valence, intervals } = emotion.signals;
  if (valence !== null && intervals.valence !== null) console.log(valence.toFixed(1), intervals.valence[0] <= valence);
}
`;
  writeFileSync(join(folder, 'program.mts'), program);
  const tsc = resolve('node_modules/.bin/tsc');
  const strict = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
  const built = spawnSync(tsc, [...strict, 'program.mts'], { cwd: folder, encoding: 'utf8' });
  t.is(built.status, 0, built.stdout);
  const ran = spawnSync(process.execPath, ['program.mjs'], { cwd: folder, encoding: 'utf8' });
  t.regex(ran.stdout, /^true\n0\.\d true\n$/, ran.stderr);
});

(hasChromium ? test.serial : test.skip)('a browser uses it', async (t) => {
  const server = shared();
  const browser = await openChromium();
  t.teardown(() => browser.close());
  const page = await browser.newPage({ bypassCSP: true });
  page.setDefaultTimeout(ceilingMs);
  await page.route('**/client/*', (route) =>
    route.fulfill({ path: join(folderOfClient, 'dist', route.request().url().split('/').at(-1) ?? '') }),
  );
  await page.goto(`${server.url}/health`);
  const [status, type] = await page.evaluate(
    async ([token = '', base64 = '']) => {
      const { createClient, ValidationError } = await import(`${location.origin}/client/index.js`);
      const client = createClient({ url: location.origin, token });
      const recording = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const report = await client.analyze(new Blob([recording]));
      const wrong = await client.analyze(new Blob(['no sound'])).catch((error: unknown) => error);
      return [report.status, wrong instanceof ValidationError && wrong.items[0].type];
    },
    [server.token, bytes.toString('base64')],
  );
  t.deepEqual([status, type], ['ok', 'value_error.audio.unsupported']);
  const { token: own } = await createClient(server).createStreamToken();
  const types = await page.evaluate(
    async ([token = '', base64 = '']) => {
      const { createClient } = await import(`${location.origin}/client/index.js`);
      const format = { encoding: 's16le', sample_rate_hz: 16_000, channels: 1 };
      const session = await createClient({ url: location.origin }).stream(format, { token });
      await session.send(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
      const report = await session.end();
      const types: string[] = [report.status];
      for await (const message of session) types.push(message.type);
      return types;
    },
    // Browsers send a longer message in more fragments than a session accepts.
    [own, dataOf(bytes).subarray(0, 320_000).toString('base64')],
  );
  t.is(types[0], 'ok');
  t.deepEqual([types[1], ...types.slice(-2)], ['session.ready', 'final', 'session.ended']);
});
