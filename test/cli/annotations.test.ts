/** `undertone analyze` with annotations for Praat and Audacity, read again by praatio. */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';
import { clientVenv } from '../../scripts/client-venv.ts';
import { toLabels, unassignedTiers } from '../../src/tools/annotations.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';

const sample = resolve('examples/sample.wav');
const folder = makeFolder();
const run = (...args: string[]) => runCli(['analyze', ...args]);
const report = (async () => JSON.parse((await run('--jsonl', sample)).stdout))();

type Read = { end: number; tiers: Record<string, [start: number, end: number, text: string][]> };

/** Every interval of the file, as praatio reads it. */
function readTextGrid(path: string): Read {
  const program = [
    'import json, sys',
    'from praatio import textgrid',
    'grid = textgrid.openTextgrid(sys.argv[1], includeEmptyIntervals=True)',
    'tiers = {tier.name: [list(entry) for entry in tier.entries] for tier in grid.tiers}',
    'print(json.dumps({"end": grid.maxTimestamp, "tiers": tiers}))',
  ].join('\n');
  return JSON.parse(execFileSync(join(clientVenv(), 'python'), ['-c', program, path], { encoding: 'utf8' }));
}

const lines = (text: string) => text.trimEnd().split('\n');

test('textgrid has the segments and the utterances of the report', async (t) => {
  const path = join(folder, 'one.TextGrid');
  fs.writeFileSync(path, (await run('--output', 'textgrid', sample)).stdout);
  const { end, tiers } = readTextGrid(path);
  const { audio, segments, emotion } = await report;
  t.is(end, audio.duration_s);
  const { segments: stretches = [], utterances = [] } = tiers;
  for (const tier of [stretches, utterances]) {
    t.is(tier[0]?.[0], 0);
    t.is(tier.at(-1)?.[1], audio.duration_s);
    t.deepEqual(
      tier.slice(1).map(([start]) => start),
      tier.slice(0, -1).map(([, stop]) => stop),
    );
  }
  const filled = (tier: typeof stretches) => tier.filter(([, , text]) => text !== '');
  t.deepEqual(
    filled(stretches).map(([start, , type]) => ({ start_s: start, type })),
    segments.map(({ start_s, type }: { start_s: number; type: string }) => ({ start_s, type })),
  );
  t.is(filled(utterances).length, emotion.timeline.length);
  for (const [at, [start, stop, text]] of filled(utterances).entries()) {
    const { start_s, end_s, dominant_emotion, confidence, valence, arousal } = emotion.timeline[at];
    t.deepEqual([start, stop], [start_s, end_s]);
    const [, label, ...values] = /^(\w+) ([\d.]+); valence ([\d.]+); arousal ([\d.]+)$/.exec(text) ?? [];
    t.is(label, dominant_emotion);
    for (const [index, value] of [confidence, valence, arousal].entries())
      t.true(Math.abs(Number(values[index]) - value) <= 0.005 + 1e-9, text);
  }
});

test('audacity has a line per segment and per utterance, in order of time', async (t) => {
  const found = lines((await run('--output', 'audacity', sample)).stdout).map((line) => line.split('\t'));
  const { segments, emotion } = await report;
  t.is(found.length, segments.length + emotion.timeline.length);
  const starts = found.map(([start]) => Number(start));
  t.deepEqual(
    starts,
    starts.toSorted((one, other) => one - other),
  );
  t.true(found.every(([, , text = '']) => /^(segment: (speech|pause)|utterance: \w+ )/.test(text)));
});

test('--out has a file per recording, below it as the recordings are, and a recording that fails has none', async (t) => {
  const recordings = join(folder, 'recordings');
  fs.mkdirSync(join(recordings, 'day'), { recursive: true });
  for (const name of ['a "b".wav', 'c.wav', 'day/c.wav']) fs.copyFileSync(sample, join(recordings, name));
  fs.writeFileSync(join(recordings, 'broken.wav'), 'no sound');
  fs.writeFileSync(join(recordings, 'c.txt'), 'my own notes');
  const out = join(folder, 'annotations');
  const { code, stdout, stderr } = await run('--output', 'audacity', '--out', out, recordings);
  t.is(code, 1);
  t.is(stdout, '');
  t.regex(stderr, /broken\.wav/);
  t.regex(stderr, /5 files, 1 failed, 1 skipped without audio/);
  const written = fs
    .readdirSync(out, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.txt'));
  t.deepEqual(written.sort(), ['a "b".txt', 'c.txt', 'day/c.txt']);
  const again = await run('--output', 'audacity', '--out', out, recordings);
  t.is(again.code, 2);
  t.regex(again.stderr, /folder without the files to write for `--out`, got .*, which exists/);
});

test('a recording in a file of the name to write is not overwritten', async (t) => {
  const own = join(folder, 'own');
  fs.mkdirSync(own);
  fs.copyFileSync(sample, join(own, 'talk.txt'));
  const { code, stderr } = await run('--output', 'audacity', '--out', own, own);
  t.is(code, 1);
  t.regex(stderr, /talk\.txt.*not written: EEXIST/s);
  t.deepEqual(fs.readFileSync(join(own, 'talk.txt')), fs.readFileSync(sample));
});

test('standard input, and no tier of utterances without emotion', async (t) => {
  const out = join(folder, 'piped');
  const args = ['analyze', '--output', 'textgrid', '--signals', 'cognitive', '--out', out, '-'];
  t.is((await runCli(args, { input: fs.readFileSync(sample) })).code, 0);
  t.deepEqual(Object.keys(readTextGrid(join(out, 'stdin.TextGrid')).tiers), ['segments']);
});

test('a recording that fails prints nothing without --out', async (t) => {
  const broken = join(folder, 'broken.wav');
  fs.writeFileSync(broken, 'no sound');
  const { code, stdout, stderr } = await run('--output', 'textgrid', broken);
  t.deepEqual([code, stdout], [1, '']);
  t.regex(stderr, /broken\.wav/);
});

test('the tiers of speakers have their names, and hold their own speech', async (t) => {
  const segments = join(folder, 'segments.json');
  fs.writeFileSync(
    segments,
    JSON.stringify([
      { start: 0, end: 15, speaker: 'the "first" one' },
      { start: 15, end: 39, speaker: 'B' },
    ]),
  );
  const path = join(folder, 'speakers.TextGrid');
  fs.writeFileSync(path, (await run('--output', 'textgrid', '--segments', segments, sample)).stdout);
  const { tiers } = readTextGrid(path);
  const names = ['the "first" one', 'B'].flatMap((speaker) =>
    ['segments', 'utterances', 'moments'].map((tier) => `${speaker} ${tier}`),
  );
  t.deepEqual(Object.keys(tiers), names);
  const spoken = (name: string) =>
    (tiers[name] ?? []).filter(([, , text]) => text !== '' && text !== 'pause');
  t.true(spoken('the "first" one utterances').every(([, end]) => end <= 15));
  t.true(spoken('B utterances').every(([start]) => start >= 15));
  const labels = await run('--output', 'audacity', '--segments', segments, sample);
  t.true(lines(labels.stdout).every((line) => line.split('\t').length === 3));
});

const twin = join(folder, 'twin');
fs.mkdirSync(twin);
fs.copyFileSync(sample, join(twin, 'SAMPLE.wav'));
const annotations = join(folder, 'none');
for (const [what, args, message] of [
  ['several recordings without --out', ['textgrid', sample, twin], /folder for `--out`, got nothing/],
  ['--out with CSV', ['csv', '--out', annotations, sample], /textgrid or audacity for `--output`, got csv/],
  ['--out without a name', ['textgrid', '--out', '', sample], /folder for `--out`, got an empty text/],
  [
    '--out that is a file',
    ['textgrid', '--out', sample, sample],
    /in which files can be created for `--out`, got .*EEXIST/,
  ],
  [
    'two recordings whose names differ by case',
    ['audacity', '--out', annotations, sample, join(twin, 'SAMPLE.wav')],
    /different names for `--out`/,
  ],
] as const) {
  test(`refused: ${what}`, async (t) => {
    const { code, stderr } = await run('--output', ...args);
    t.is(code, 2);
    t.regex(stderr, message);
  });
}

test('speech of no speaker has a tier', (t) => {
  const unassigned = [{ start_s: 1, end_s: 2.5 }];
  t.is(toLabels(unassignedTiers({ unassigned })), '1.000\t2.500\tunassigned: speech\n');
  for (const report of [{ unassigned: [] }, {}]) t.deepEqual(unassignedTiers(report), []);
});
