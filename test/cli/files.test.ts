/** Files that never end, or are too large, in the place of every file that a command reads. */
import { execFile, execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { wavHeader } from '../../src/engine/index.ts';
import { commandLine, runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { hasTerminal, runInTerminal } from '../support/terminal.ts';

const sample = resolve('examples/sample.wav');
const folder = makeFolder();
const inFolder = (name: string) => join(folder, name);
const pipeNamed = (name: string) => {
  execFileSync('mkfifo', [inFolder(name)]);
  return inFolder(name);
};

const pipe = pipeNamed('pipe');
const pipes = { json: pipeNamed('pipe.json'), jsonl: pipeNamed('pipe.jsonl') };
const large = inFolder('large.wav');
fs.writeFileSync(large, '');
fs.truncateSync(large, 2 ** 31);
const [labels, scores, out] = ['labels.csv', 'scores', 'out'].map(inFolder) as [string, string, string];
fs.writeFileSync(labels, `path,label\n${sample},neutral\n`);
fs.mkdirSync(scores);
execFileSync('mkfifo', [join(scores, 'scores.jsonl')]);
const service = ['--url', 'http://127.0.0.1:9', '--retries', '0'];
const written = ['--output', inFolder('bulk.jsonl')];

/** Of every argument and option that names a file: the command with `path` there. */
const named: Readonly<Record<string, (path: string) => string[]>> = {
  'a recording of analyze': (path) => ['analyze', path],
  'analyze --list': (path) => ['analyze', '--list', path],
  'analyze --segments': (path) => ['analyze', '--segments', path, sample],
  'analyze --baseline': (path) => ['analyze', '--baseline', path, sample],
  'a recording of embed': (path) => ['embed', path],
  'a recording of features': (path) => ['features', path, '--spec', 'prosody', '--out', out],
  'features --list': (path) => ['features', '--list', path, '--spec', 'prosody'],
  'labels of evaluate': (path) => ['evaluate', path, '--out', out],
  'labels of adapt': (path) => ['adapt', path, '--out', out],
  'a receipt': (path) => ['verify', path, sample, '--keys', sample],
  'a recording of bulk': (path) => ['bulk', path, ...service, '--token', 'x', ...written],
  'bulk --list': (path) => ['bulk', '--list', path, ...service, '--token', 'x', ...written],
  'bulk --token-file': (path) => ['bulk', sample, ...service, '--token-file', path, ...written],
};

for (const [what, command] of Object.entries(named)) {
  test(`${what}: a pipe, a device and a large file are refused unread`, async (t) => {
    for (const [path, got] of [
      [pipe, 'a device, pipe or socket'],
      ['/dev/null', 'a device, pipe or socket'],
      [large, `${2 ** 31} bytes, more than `],
    ] as const) {
      const { code, stdout, stderr } = await runCli(command(path), { cwd: folder });
      t.true(code === 1 || code === 2, stderr);
      t.regex(stdout + stderr, new RegExp(`Expected a readable file.*, got .*${got}`));
      t.false(/\n {4}at /.test(stdout + stderr), stderr);
    }
  });
}

const others: Readonly<Record<string, string[]>> = {
  'the spec of features': ['features', sample, '--spec', pipes.json, '--out', out],
  'scores of an earlier evaluate': ['evaluate', labels, '--out', scores],
  'the output of an earlier bulk': ['bulk', sample, ...service, '--token', 'x', '--output', pipes.jsonl],
};

for (const [what, args] of Object.entries(others)) {
  test(`${what}: a pipe is refused unread`, async (t) => {
    const { code, stderr } = await runCli(args, { cwd: folder });
    t.is(code, 2, stderr);
    t.regex(stderr, /^Expected a readable file for `--\w+`, got \S+: a device, pipe or socket\n$/);
  });
}

test('the limit of a recording names its setting, and holds for standard input', async (t) => {
  const env = { UNDERTONE_JOB_MAX_BYTES: '1000' };
  const file = await runCli(['analyze', sample], { env });
  t.regex(file.stdout, /got \d+ bytes, more than 1000 \(UNDERTONE_JOB_MAX_BYTES\)\n$/);
  const { code, stderr } = await runCli(['analyze', '-'], { env, input: fs.readFileSync(sample) });
  t.deepEqual([code, stderr], [2, 'Expected at most 1000 bytes for `-`, got more\n']);
});

/** Speech, and silence up to 16 minutes. */
function longRecording(): Buffer {
  const speech = fs.readFileSync(sample).subarray(44);
  const format = { encoding: 's16le', sampleRate: 16_000, channels: 1 } as const;
  const bytes = Buffer.concat([speech, Buffer.alloc(2 * 16_000 * 960 - speech.length)]);
  return Buffer.concat([wavHeader(format, bytes.length), bytes]);
}

const long = inFolder('long.wav');
fs.writeFileSync(long, longRecording());

test('a recording of more than 15 minutes is analysed, unless a setting limits it', async (t) => {
  const { code, stdout } = await runCli(['analyze', '--jsonl', '--signals', 'cognitive', long]);
  t.is(code, 0, stdout);
  t.is(JSON.parse(stdout).audio.duration_s, 960);
  const limited = await runCli(['analyze', long], { env: { UNDERTONE_MAX_SECONDS: '900' } });
  t.is(limited.code, 1);
  t.regex(limited.stdout, /at most 900 s of audio, got more: UNDERTONE_MAX_SECONDS sets the limit/);
});

(hasTerminal ? test : test.skip)('a bar shows how far a long recording is', async (t) => {
  const command = commandLine(['analyze', '--signals', 'cognitive', long]).map((part) => `'${part}'`);
  const screen = await runInTerminal(command.join(' '), 80, { cwd: folder });
  t.is(screen.code, 0, screen.raw);
  t.regex(screen.raw, /█░* 0\/1 file, \d+ (s|min \d+ s) to go/);
});

test('data without a header is named by its extension', async (t) => {
  const raw = inFolder('call.ulaw');
  fs.writeFileSync(raw, Buffer.alloc(8000, 0xd5));
  const { stdout } = await runCli(['analyze', raw]);
  t.regex(stdout, /got raw mu-law samples, which have no header: .* ffmpeg -f mulaw -ar 8000 -i FILE/);
});

test('segments come from standard input, once', async (t) => {
  const input = JSON.stringify([{ start: 0, end: 20, speaker: 'A' }]);
  const { stdout } = await runCli(['analyze', '--jsonl', '--segments', '-', sample], { input });
  t.is(JSON.parse(stdout).speakers[0].speaker, 'A');
  const { stderr } = await runCli(['analyze', '--segments', '-', '-'], { input });
  t.is(stderr, 'Expected standard input once for `-`, got it more often\n');
});

test('file names that are not UTF-8 are read from arguments, folders and lists', async (t) => {
  const path = Buffer.concat([
    Buffer.from(`${inFolder('names')}/caf`),
    Buffer.from([0xe9]),
    Buffer.from('.wav'),
  ]);
  fs.mkdirSync(inFolder('names'));
  fs.copyFileSync(sample, path);
  fs.writeFileSync(inFolder('list.txt'), Buffer.concat([path, Buffer.from('\n')]));
  for (const argument of ["$'names/caf\\xe9.wav'", 'names', '--list list.txt']) {
    const script = `exec "$@" analyze --output jsonl ${argument}`;
    const run = promisify(execFile)('bash', ['-c', script, 'bash', ...commandLine([])], { cwd: folder });
    const report = JSON.parse((await run).stdout);
    t.is(report.emotion?.status, 'ok', argument);
    t.true(report.path.endsWith('/caf\udce9.wav'), report.path);
  }
});
