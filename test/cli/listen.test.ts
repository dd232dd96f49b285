/** `undertone listen`: samples of standard input and of a program that records, through the built command. */
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { withoutRequestIds } from '../../src/engine/schema.ts';
import { commandLine, follow, runCli, startCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { talk } from '../support/recordings.ts';
import { dataOf, parseMessage } from '../support/stream-client.ts';

const path = 'examples/sample.wav';
const wav = readFileSync(path);
const samples = dataOf(wav);
const rawFormat = ['--encoding', 's16le', '--rate', '16000', '--channels', '1'];

async function listenJson(input: Uint8Array, ...more: readonly string[]) {
  const { code, stdout, stderr } = await runCli(['listen', '-', '--json', ...more], { input });
  return { code, stderr, messages: stdout.trim().split('\n').map(parseMessage) };
}

const reportOf = ({ messages }: Awaited<ReturnType<typeof listenJson>>) =>
  messages.find(({ type }) => type === 'final')?.report as Record<string, unknown>;

/** As a program writes to a pipe: the length is unknown, and metadata comes first. */
function pipedWav(): Buffer {
  const list = Buffer.from('LIST\x05\0\0\0INFOx\0', 'latin1');
  const data = Buffer.from('data\xff\xff\xff\xff', 'latin1');
  return Buffer.concat([wav.subarray(0, 36), list, data, samples]);
}

test('the report equals that of the file, and every message is as documented', async (t) => {
  const { stdout } = await runCli(['analyze', '--jsonl', path]);
  const { path: _, ...want } = JSON.parse(stdout);
  const heard = await listenJson(wav, '--interval', '1');
  t.is(heard.code, 0, heard.stderr);
  const { status, request_id, ...report } = reportOf(heard);
  t.deepEqual(report, want);
  const types = heard.messages.map(({ type }) => type);
  t.deepEqual([types[0], ...types.slice(-2)], ['session.ready', 'final', 'session.ended']);
  t.true(types.includes('turn'));
  t.true(types.filter((type) => type === 'measurement').length > 5);
});

test('raw samples, and a WAV file of unknown length, are the same samples', async (t) => {
  const [file, raw, piped] = await Promise.all([
    listenJson(Buffer.concat([wav, Buffer.from('LIST\x04\0\0\0abcd', 'latin1')])),
    listenJson(samples, ...rawFormat),
    listenJson(pipedWav()),
  ]);
  const want = { ...reportOf(file), request_id: '' };
  t.deepEqual({ ...reportOf(raw), request_id: '' }, want);
  t.deepEqual({ ...reportOf(piped), request_id: '' }, want);
});

test('--speakers: a turn has its speaker, and the report is that of the file', async (t) => {
  const file = join(makeFolder(), 'talk.wav');
  writeFileSync(file, wavFile(talk(['low', 'high'], 0.6).samples));
  const { stdout } = await runCli(['analyze', '--jsonl', '--speakers', '2', file]);
  const { path: _, ...want } = JSON.parse(stdout);
  const heard = await listenJson(readFileSync(file), '--speakers', '2');
  t.deepEqual(heard.messages.find(({ type }) => type === 'turn')?.speaker, '1');
  t.deepEqual(withoutRequestIds(reportOf(heard)), want);
  const text = await runCli(['listen', '-', '--speakers', '2'], { input: readFileSync(file) });
  t.regex(text.stdout, /^ {2}0\.\d to \d\.\d s +speaker 1 +\w+ \(0\.\d\d\)/);
  t.regex(text.stdout, /\nstandard input \(speaker 2\)\n(.*\n)+ {2}conversation\n/);
});

test('without a terminal, each utterance is a line, and the report follows', async (t) => {
  const { code, stdout } = await runCli(['listen', '-', '--signals', 'emotion'], { input: wav });
  t.is(code, 0);
  t.regex(stdout, /^ {2}0\.\d to \d\.\d s +\w+ \(0\.\d\d\) +valence 0\.\d\d {2}arousal 0\.\d\d\n/);
  t.regex(stdout, /\nstandard input\n.*\n {2}emotion +\w+ \(0\.\d\d\)/);
  t.notRegex(stdout, /clarity/);
});

test('errors say what was expected', async (t) => {
  const pcm24 = Buffer.from(wav);
  pcm24.writeUInt16LE(24, 34);
  const cases: readonly (readonly [Uint8Array, readonly string[], number, RegExp])[] = [
    [Buffer.from('no sound at all'), ['-'], 2, /^Expected a WAV file on standard input, or raw samples/],
    [Buffer.alloc(0), ['-'], 2, /^Expected a WAV file on standard input, got 0 bytes/],
    [pcm24, ['-'], 2, /got format 1 with 24 bits and 1 channels; convert it: ffmpeg/],
    [samples, ['-', '--rate', '8000'], 2, /for `--encoding`, got nothing/],
    [samples, ['-', '--encoding', 's24le'], 2, /^Expected one of s16le, f32le, mulaw, alaw for `encoding`/],
    [wav, ['-', '--interval', '0.1'], 2, /^Expected a multiple of 0.25 from 1 to 60 for `interval_s`/],
    [samples, ['file.wav'], 2, /^Expected - or nothing for `source`, got "file.wav"/],
    [Buffer.alloc(0), ['-', ...rawFormat], 1, /Expected/],
  ];
  for (const [input, args, want, message] of cases) {
    const { code, stderr } = await runCli(['listen', ...args], { input });
    t.is(code, want, stderr);
    t.regex(stderr, message);
  }
});

/** A folder with a program named parec. */
function recorderOf(script: string): { readonly PATH: string } {
  const folder = makeFolder();
  writeFileSync(join(folder, 'samples'), samples);
  writeFileSync(
    join(folder, 'parec'),
    `#!/bin/sh\n${script.replaceAll('SAMPLES', join(folder, 'samples'))}\n`,
  );
  chmodSync(join(folder, 'parec'), 0o755);
  return { PATH: `${folder}:/usr/bin:/bin` };
}

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('Ctrl-C ends the recording of a microphone, and the report follows', async (t) => {
  const child = startCli(['listen'], { env: recorderOf('cat SAMPLES; exec sleep 1000') });
  const running = follow(t, child);
  await running.printed(/valence/);
  t.notRegex(running.stdout(), /microphone/);
  t.deepEqual(await running.stop('SIGINT'), { code: 0, signal: null });
  t.regex(running.stdout(), /\nmicrophone\n {2}\d+\.\d s of speech/);
});

onLinux('a microphone that cannot be recorded is an error', async (t) => {
  const failed = await runCli(['listen'], { env: recorderOf('echo "Connection refused" >&2; exit 1') });
  t.is(failed.code, 1);
  t.is(failed.stderr, 'Expected samples for `audio`, got none\nparec ended: Connection refused\n');
  const none = await runCli(['listen'], { env: { PATH: makeFolder() } });
  t.is(none.code, 2);
  t.regex(none.stderr, /^Expected parec \(apt install pulseaudio-utils\), arecord .* or pipe audio/);
});

const withTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0 ? test : test.skip;

withTerminal('a terminal shows one view that is updated', (t) => {
  const line = `${commandLine(['listen', '-', '--interval', '1']).join(' ')} < ${resolve(path)}`;
  const { status, stdout } = spawnSync('script', ['-qec', line, '/dev/null'], { encoding: 'utf8' });
  t.is(status, 0, stdout);
  const views = stdout.split('\x1b[0J');
  t.true(views.some((view) => /^standard input {2}● speech/.test(view)));
  const full = views.filter((view) => /cognitive load .*arousal 0/s.test(view));
  t.true(full.length > 1);
  for (const view of full) t.is(view.match(/standard input/g)?.length, 1);
  t.regex(views.at(-1) ?? '', /^standard input\r\n.* s of speech/);
});
