/** `undertone analyze` of channels, speakers and moments. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { wavHeader } from '../../src/engine/pcm.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { outburst } from '../support/recordings.ts';
import { dataOf } from '../support/stream-client.ts';

const sample = dataOf(fs.readFileSync('examples/sample.wav'));
const folder = makeFolder();
const call = join(folder, 'call.wav');
const one = join(folder, 'one.wav');
const rttm = join(folder, 'call.rttm');

/** Speech on channel 0, then on channel 1. */
function conversation(): Buffer {
  const samples = Buffer.alloc(4 * sample.length);
  for (let at = 0; at < sample.length; at += 2) {
    sample.copy(samples, 2 * at, at, at + 2);
    sample.copy(samples, 2 * (sample.length + at) + 2, at, at + 2);
  }
  return samples;
}

function writeWav(path: string, channels: 1 | 2, samples: Buffer): void {
  const format = { encoding: 's16le', sampleRate: 16_000, channels } as const;
  fs.writeFileSync(path, Buffer.concat([wavHeader(format, samples.length), samples]));
}

test.before(() => {
  writeWav(call, 2, conversation());
  writeWav(one, 1, sample);
  const line = (start: number, name: string) => `SPEAKER call 1 ${start} 4 <NA> <NA> ${name} <NA> <NA>\n`;
  fs.writeFileSync(rttm, line(0, 'Ada') + line(4, 'Bo'));
});

const run = async (...args: string[]) => runCli(['analyze', ...args]);
const reports = (stdout: string) => JSON.parse(stdout);

test('--channels split has the reports of --channel 0 and --channel 1, and the conversation', async (t) => {
  const split = reports((await run('--jsonl', '--channels', 'split', call)).stdout);
  t.deepEqual(Object.keys(split), ['path', 'status', 'channels', 'conversation', 'audio']);
  t.deepEqual(split.conversation.interruptions, [0, 0]);
  for (const channel of [0, 1]) {
    const { path: _, ...alone } = reports((await run('--jsonl', '--channel', `${channel}`, call)).stdout);
    t.deepEqual(split.channels[channel], { status: 'ok', ...alone });
  }
});

test('--channels split: a block, or a row, per channel', async (t) => {
  const text = await run('--channels', 'split', call);
  const blocks = text.stdout.split('\n').filter((line) => !line.startsWith('    '));
  t.true(blocks.includes(`${call} (channel 0)`));
  t.true(blocks.includes(`${call} (channel 1)`));
  t.regex(
    text.stdout,
    /conversation\n {2}talk share {6}\d+ %, \d+ %\n {2}overlap {9}0\.0 s\n {2}interruptions {3}0, 0\n$/,
  );
  const csv = await run('--channels', 'split', '--output', 'csv', call, one);
  t.is(csv.code, 1);
  const rows = csv.stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(',').slice(0, 3));
  t.deepEqual(rows, [
    ['path', 'channel', 'status'],
    [call, '0', 'ok'],
    [call, '1', 'ok'],
    [one, '', 'failed'],
  ]);
  const table = await run('--channels', 'split', '--output', 'table', call);
  t.regex(table.stdout, /call\.wav \(channel 0\)\n.*call\.wav \(channel 1\)\n$/);
});

test('--segments: a report per speaker', async (t) => {
  const whole = reports((await run('--jsonl', '--segments', rttm, one)).stdout);
  t.deepEqual(Object.keys(whole), ['path', 'status', 'speakers', 'unassigned', 'audio']);
  t.deepEqual(
    whole.speakers.map(({ speaker }: { speaker: string }) => speaker),
    ['Ada', 'Bo'],
  );
  const { stdout } = await run('--segments', rttm, '--output', 'csv', one);
  t.deepEqual(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(',')[1]),
    ['speaker', 'Ada', 'Bo'],
  );
});

test('--speakers: a report per voice', async (t) => {
  const voices = (mode: string, ...args: string[]) => run('--speakers', mode, ...args, one);
  const whole = reports((await voices('auto', '--jsonl')).stdout);
  t.deepEqual(Object.keys(whole), ['path', 'status', 'speakers', 'unassigned', 'audio', 'conversation']);
  t.is(whole.conversation, null);
  const { stdout } = await voices('2');
  t.regex(stdout, /one\.wav \(speaker 1\)\n[\s\S]*one\.wav \(speaker 2\)\n/);
  t.regex(stdout, /conversation\n {2}talk share {6}\d+ %, \d+ %\n {2}speaker unclear {1}\d+\.\d s\n$/);
});

const wrong: Readonly<Record<string, readonly [args: readonly string[], error: RegExp]>> = {
  'an unknown mode': [['--channels', 'both', call], /Expected split for `--channels`, got "both"/],
  'one channel and both': [['--channels', 'split', '--channel', '0', call], /no --channel for `--channels`/],
  'channels and speakers': [
    ['--channels', 'split', '--segments', rttm, call],
    /no --segments for `--channels`/,
  ],
  'seven voices': [['--speakers', '7', one], /Expected 2 to 6 or auto for `--speakers`, got "7"/],
  'segments and voices': [
    ['--segments', rttm, '--speakers', '2', one],
    /no --speakers for `--segments`, got both: remove one of them/,
  ],
  'a baseline of two voices': [['--speakers', '2', '--baseline', one, one], /no --baseline for `--speakers`/],
  'one signal of both channels': [
    ['--channels', 'split', '--signals', 'emotion', call],
    /all signals for `--channels`, got some: remove --signals/,
  ],
  'a track by name': [['--track', 'second', call], /number of an audio track, counted from 0/],
  'a channel by name': [['--channel', 'left', call], /number of a channel, counted from 0/],
  'speakers of two recordings': [['--segments', rttm, one, call], /one recording for `--segments`, got 2/],
  'segments that are absent': [
    ['--segments', join(folder, 'none'), one],
    /`--segments`, got \S+none: ENOENT\n$/,
  ],
  'segments that are no RTTM': [['--segments', one, one], /line 1 of `segments`/],
};

for (const [name, [args, error]] of Object.entries(wrong)) {
  test(`${name}: exit code 2`, async (t) => {
    const { code, stderr } = await run(...args);
    t.is(code, 2);
    t.regex(stderr, error);
  });
}

// Moments of a recording in every form that `undertone analyze` prints.

const path = join(makeFolder(), 'call.wav');
fs.writeFileSync(path, wavFile(outburst(true).samples));
const runMoments = async (...args: string[]) => (await runCli(['analyze', ...args, path])).stdout;
const moments = (async () => JSON.parse(await runMoments('--jsonl')).emotion.moments)();

test('text has a line per moment', async (t) => {
  const [{ start_s, end_s, emotion, probability, differences }] = await moments;
  const line = `  moments         ${start_s.toFixed(1)} to ${end_s.toFixed(1)} s: ${emotion} (${probability.toFixed(2)}), `;
  t.true(
    (await runMoments()).includes(
      `${line}${differences[0].spreads.toFixed(1)} times the usual variation of this voice\n`,
    ),
  );
});

test('CSV has the number of moments and the most unusual one, and rows per utterance have its spreads', async (t) => {
  const [{ start_s, emotion, differences }] = await moments;
  const rows = async (...args: string[]) => {
    const [header = '', ...lines] = (await runMoments('--output', 'csv', ...args)).trimEnd().split('\n');
    const names = header.split(',');
    return lines.map((line) => Object.fromEntries(line.split(',').map((cell, at) => [names[at], cell])));
  };
  const [row] = await rows();
  t.is(row?.moments, '1');
  t.is(row?.moment_start_s, String(start_s));
  t.is(row?.moment_emotion, emotion);
  const utterances = await rows('--by', 'utterance');
  t.deepEqual(
    utterances.filter((one) => one.moment_spreads !== '').map((one) => [one.start_s, one.moment_spreads]),
    [[String(start_s), String(differences[0].spreads)]],
  );
});

test('annotations have a tier of moments', async (t) => {
  const [{ start_s, end_s, emotion }] = await moments;
  const lines = (await runMoments('--output', 'audacity'))
    .split('\n')
    .filter((line) => line.includes('moment: '));
  t.is(lines.length, 1);
  t.true(lines[0]?.startsWith(`${start_s.toFixed(3)}\t${end_s.toFixed(3)}\tmoment: ${emotion} `));
  t.true((await runMoments('--output', 'textgrid')).includes('name = "moments"'));
});
