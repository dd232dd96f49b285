/** Moments of a recording in every form that `undertone analyze` prints. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { outburst } from '../support/recordings.ts';

const path = join(makeFolder(), 'call.wav');
fs.writeFileSync(path, wavFile(outburst(true).samples));
const run = async (...args: string[]) => (await runCli(['analyze', ...args, path])).stdout;
const moments = (async () => JSON.parse(await run('--jsonl')).emotion.moments)();

test('text has a line per moment', async (t) => {
  const [{ start_s, end_s, emotion, probability, differences }] = await moments;
  const line = `  moments         ${start_s.toFixed(1)} to ${end_s.toFixed(1)} s: ${emotion} (${probability.toFixed(2)}), `;
  t.true(
    (await run()).includes(
      `${line}${differences[0].spreads.toFixed(1)} spreads above the other utterances\n`,
    ),
  );
});

test('CSV has the number of moments and the most unusual one, and rows per utterance have its spreads', async (t) => {
  const [{ start_s, emotion, differences }] = await moments;
  const rows = async (...args: string[]) => {
    const [header = '', ...lines] = (await run('--output', 'csv', ...args)).trimEnd().split('\n');
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
  const lines = (await run('--output', 'audacity')).split('\n').filter((line) => line.includes('moment: '));
  t.is(lines.length, 1);
  t.true(lines[0]?.startsWith(`${start_s.toFixed(3)}\t${end_s.toFixed(3)}\tmoment: ${emotion} `));
  t.true((await run('--output', 'textgrid')).includes('name = "moments"'));
});
