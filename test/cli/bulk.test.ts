/** `undertone bulk` against a real service with interruptions. */
import * as fs from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import test from 'ava';
import { runCli, startCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { listen } from '../support/listening.ts';
import { withoutVoice } from '../support/models.ts';
import { type Server, startServer } from '../support/server.ts';
import { share } from '../support/share.ts';
import { until } from '../support/wait.ts';

const shared = share(test, startServer);
/** Short: most tests analyse many. */
const sample = resolve('test/speech/en-us+f2-110.flac');

function makeTree(count: number): string {
  const folder = makeFolder();
  for (let index = 0; index < count; index++) fs.copyFileSync(sample, join(folder, `${index}, "a"\n.wav`));
  fs.writeFileSync(join(folder, 'notes.txt'), 'no sound');
  return folder;
}

const linesOf = (path: string) => fs.readFileSync(path, 'utf8').trimEnd().split('\n');

test.serial(
  'every file has one line of JSON or CSV, and existing lines are not requested again',
  async (t) => {
    const server = shared();
    const folder = makeTree(3);
    const args = ['bulk', folder, '--url', server.url, '--token', server.token, '--concurrency', '2'];
    for (const name of ['out.jsonl', 'out.csv']) {
      const output = join(makeFolder(), name);
      const first = await runCli([...args, '--output', output]);
      t.is(first.code, 0, first.stderr);
      t.regex(first.stderr, /^4 files answered in [0-9.]+ s, 1 of them refused, 0 without an answer\n$/);
      const whole = fs.readFileSync(output, 'utf8');
      const again = await runCli([...args, '--output', output]);
      t.regex(
        again.stderr,
        /^0 files answered in [0-9.]+ s, 4 before, 0 of them refused, 0 without an answer\n$/,
      );
      t.is(fs.readFileSync(output, 'utf8'), whole);
      // An incomplete last write.
      fs.writeFileSync(output, whole.slice(0, -20));
      const resumed = await runCli([...args, '--output', output]);
      t.regex(resumed.stderr, /^1 file answered in [0-9.]+ s, 3 before/);
      t.is(fs.readFileSync(output, 'utf8'), whole);
    }
  },
);

test.serial(
  'an option that the service refuses for every file ends the run, and no file counts as answered',
  async (t) => {
    const server = await startServer(t, { UNDERTONE_MODELS_DIR: await withoutVoice(t) });
    const output = join(makeFolder(), 'out.jsonl');
    const args = ['--url', server.url, '--token', server.token, '--speakers', '2', '--output', output];
    const refused = await runCli(['bulk', makeTree(2), ...args]);
    t.is(refused.code, 2);
    t.regex(refused.stderr, /Expected models with a voice model for `speakers`/);
    t.is(fs.readFileSync(output, 'utf8'), '');
  },
);

test.serial('channels and voices have the lines of analyze, and an incomplete write none', async (t) => {
  const server = shared();
  const folder = makeFolder();
  fs.copyFileSync('examples/call.ogg', join(folder, 'call.ogg'));
  for (const [name, parts] of [
    ['out.csv', ['--channels', 'split']],
    ['out.jsonl', ['--speakers', '2']],
  ] as const) {
    const output = join(makeFolder(), name);
    const args = ['--url', server.url, '--token', server.token, '--output', output, ...parts];
    t.is((await runCli(['bulk', folder, ...args])).code, 0);
    const whole = fs.readFileSync(output, 'utf8');
    t.is(whole, (await runCli(['analyze', '--output', name.slice(4), ...parts, folder])).stdout);
    // The last row of the file is incomplete, and the first is whole.
    fs.writeFileSync(output, whole.slice(0, -20));
    t.regex((await runCli(['bulk', folder, ...args])).stderr, /^1 file answered/);
    t.is(fs.readFileSync(output, 'utf8'), whole);
  }
  const both = ['--channels', 'split', '--speakers', '2', '--output', join(folder, 'out.csv')];
  const { code, stderr } = await runCli([
    'bulk',
    folder,
    '--url',
    server.url,
    '--token',
    server.token,
    ...both,
  ]);
  t.deepEqual([code, stderr], [2, 'Expected no --speakers for `--channels`, got both: remove one of them\n']);
});

test.serial('records equal those of analyze, and errors those of the service', async (t) => {
  const server = shared();
  const folder = makeTree(1);
  fs.copyFileSync('examples/sample.wav', join(folder, 'whole.wav'));
  const output = join(makeFolder(), 'out.jsonl');
  const env = { UNDERTONE_TOKEN: server.token };
  t.is((await runCli(['bulk', folder, '--url', server.url, '--output', output], { env })).code, 0);
  const analysed = await runCli(['analyze', '--jsonl', folder]);
  const sorted = (lines: string[]) =>
    lines.map((line) => JSON.parse(line)).sort((a, b) => (a.path < b.path ? -1 : 1));
  t.deepEqual(sorted(linesOf(output)), sorted(analysed.stdout.trimEnd().split('\n')));
});

test.serial(
  'the token comes from a file, standard input or the environment, and is not among the arguments',
  async (t) => {
    const server = shared();
    const file = join(makeFolder(), 'token');
    fs.writeFileSync(file, `${server.token}\r\nanother line\n`, { mode: 0o600 });
    const run = async (args: readonly string[], more: { input?: string; env?: Record<string, string> }) => {
      const output = join(makeFolder(), 'out.jsonl');
      const { code, stderr } = await runCli(
        ['bulk', sample, '--url', server.url, '--output', output, ...args],
        more,
      );
      t.is(code, 0, stderr);
      t.is(linesOf(output).length, 1);
    };
    await run(['--token-file', file], {});
    await run(['--token-file', '-'], { input: `  ${server.token}\n` });
    await run([], { env: { UNDERTONE_TOKEN: server.token } });
    await run(['--token-file', file], { env: { UNDERTONE_TOKEN: 'another-token-that-is-unknown' } });
    const odd = await runCli(
      ['bulk', sample, '--url', server.url, '--output', join(makeFolder(), 'out.csv')],
      {
        env: { UNDERTONE_TOKEN: 'schlüssel-that-is-long-enough' },
      },
    );
    t.is(odd.code, 2);
    t.is(odd.stderr, 'Expected a token for `UNDERTONE_TOKEN or --token-file`, got other characters\n');
  },
);

/** Forwards a request and its response. */
async function relay(server: Server, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
  const body = await buffer(request);
  const sent = { method: 'POST', headers: headers as Record<string, string>, body };
  const reply = await fetch(`${server.url}${request.url}`, sent);
  response.writeHead(reply.status, { 'Content-Type': 'application/json' });
  response.end(await reply.text());
}

/** Fewer than the attempts of one file, in case all hit the same file. */
const failures = 7;

test.serial('a service that is busy, drops connections or stops loses no file', async (t) => {
  const server = shared();
  const folder = makeTree(6);
  let asked = 0;
  const port = await listen(t, (request, response) => {
    asked++;
    if (asked > failures) return void relay(server, request, response);
    if (asked % 2 === 0) return request.socket.destroy();
    request.resume();
    response.writeHead(503, { 'Retry-After': '1', 'Content-Type': 'application/json' });
    response.end('{"detail":"busy","code":"overloaded","request_id":"x"}');
  });
  const url = `http://127.0.0.1:${port}`;
  const output = join(makeFolder(), 'out.jsonl');
  const { code, stderr } = await runCli([
    'bulk',
    folder,
    '--url',
    url,
    '--token',
    server.token,
    '--output',
    output,
  ]);
  t.is(code, 0, stderr);
  t.is(new Set(linesOf(output).map((line) => JSON.parse(line).path)).size, 7);
  t.is(linesOf(output).length, 7);
  t.is(asked, 7 + failures);
});

test.serial('a refusal with Retry-After: 0 is followed by a pause', async (t) => {
  const server = shared();
  const asked: number[] = [];
  const port = await listen(t, (request, response) => {
    asked.push(performance.now());
    if (asked.length > 2) return void relay(server, request, response);
    request.resume();
    response.writeHead(429, { 'Retry-After': '0', 'Content-Type': 'application/json' });
    response.end('{"detail":"busy","code":"rate_limited","request_id":"x"}');
  });
  const url = `http://127.0.0.1:${port}`;
  const output = join(makeFolder(), 'out.jsonl');
  const { code } = await runCli(['bulk', sample, '--url', url, '--token', server.token, '--output', output]);
  t.is(code, 0);
  for (const [index, at] of asked.slice(1).entries()) t.true(at - (asked[index] ?? 0) > 900);
});

test.serial('an interrupted run resumes', async (t) => {
  const server = shared();
  const folder = makeTree(12);
  const output = join(makeFolder(), 'out.jsonl');
  const options = ['--token', server.token, '--output', output, '--concurrency', '1'];
  const argsFor = (url: string) => ['bulk', folder, '--url', url, ...options];
  // Answers three files only.
  let asked = 0;
  const port = await listen(t, (request, response) => {
    if (++asked <= 3) void relay(server, request, response);
  });
  const child = startCli(argsFor(`http://127.0.0.1:${port}`));
  await until(() => asked === 4);
  child.kill('SIGKILL');
  await new Promise((done) => child.once('close', done));
  t.is(linesOf(output).length, 3);
  t.is((await runCli(argsFor(server.url))).code, 0);
  const paths = linesOf(output).map((line) => JSON.parse(line).path);
  t.is(paths.length, 13);
  t.is(new Set(paths).size, 13);
});

test('a file without a response stays pending, and a refused token ends the run', async (t) => {
  const server = shared();
  const output = join(makeFolder(), 'out.jsonl');
  const nowhere = await runCli([
    'bulk',
    sample,
    '--url',
    'http://127.0.0.1:9',
    '--token',
    'x',
    '--output',
    output,
    '--retries',
    '0',
  ]);
  t.is(nowhere.code, 1);
  t.regex(nowhere.stderr, /Expected an answer from http:\/\/127.0.0.1:9, got none/);
  t.is(fs.readFileSync(output, 'utf8'), '');
  const refused = await runCli(['bulk', sample, '--url', server.url, '--token', 'x', '--output', output]);
  t.is(refused.code, 2);
  t.regex(refused.stderr, /Bearer token.*\(401\)/);
  const misused: readonly (readonly [string[], RegExp])[] = [
    [['--url', server.url, '--token', 'x', '--output', 'a.txt'], /ends in .jsonl or .csv/],
    [['--url', 'voice', '--token', 'x', '--output', output], /http:\/\/HOST/],
    [['--url', server.url, '--output', output], /a token for `UNDERTONE_TOKEN or --token-file`, got none/],
    [['--url', server.url, '--token', 'x', '--token-file', '-', '--output', output], /one of both/],
    [['--url', server.url, '--token-file', '-', '--list', '-', '--output', output], /standard input once/],
    [
      ['--url', server.url, '--token-file', '/nowhere/token', '--output', output],
      /a readable file for `--token-file`/,
    ],
    [['--url', server.url, '--token-file', '-', '--output', output], /a token for `--token-file`, got none/],
  ];
  for (const [args, message] of misused) {
    const { code, stderr } = await runCli(['bulk', sample, ...args], { input: '' });
    t.is(code, 2, stderr);
    t.regex(stderr, message);
  }
});

test.serial('a rate limit delays files, and a file of something else stays as it is', async (t) => {
  const server = await startServer(t, { UNDERTONE_RATE_LIMIT: '2/1' });
  const folder = makeTree(5);
  const args = ['bulk', folder, '--url', server.url, '--token', server.token, '--output'];
  const limited = await runCli([...args, join(folder, 'out.jsonl')]);
  t.is(limited.code, 0, limited.stderr);
  t.regex(limited.stderr, /^6 files answered/);
  // The output inside of the folder is no recording.
  t.regex(
    (await runCli([...args, join(folder, 'out.jsonl')])).stderr,
    /^0 files answered in [0-9.]+ s, 6 before/,
  );
  for (const [name, content] of [
    ['other.jsonl', '{"id": 1}'],
    ['other.csv', 'name,size\n"5"" disk",7\nrest "'],
    ['older.csv', 'path,status,duration_s,speech_s,warnings,error\n'],
  ] as const) {
    const output = join(makeFolder(), name);
    fs.writeFileSync(output, content);
    const refused = await runCli([...args, output]);
    t.deepEqual([refused.code, fs.readFileSync(output, 'utf8')], [2, content]);
    t.regex(refused.stderr, /Expected a file that `undertone bulk` of this release wrote .* got another/);
  }
});
