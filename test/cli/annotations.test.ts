/** `undertone analyze` with annotations for Praat and Audacity, read again by praatio. */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';
import { clientVenv } from '../../scripts/client-venv.ts';
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

test('--out has a file per recording, and a recording that fails has none', async (t) => {
  const recordings = join(folder, 'recordings');
  fs.mkdirSync(recordings);
  fs.copyFileSync(sample, join(recordings, 'a "b".wav'));
  fs.copyFileSync(sample, join(recordings, 'c.wav'));
  fs.writeFileSync(join(recordings, 'notes.wav'), 'no sound');
  const paths = ['a "b".wav', 'c.wav', 'notes.wav'].map((name) => join(recordings, name));
  const out = join(folder, 'annotations');
  const { code, stdout, stderr } = await run('--output', 'textgrid', '--out', out, ...paths);
  t.is(code, 1);
  t.is(stdout, '');
  t.regex(stderr, /notes\.wav/);
  t.deepEqual(fs.readdirSync(out).sort(), ['a "b".TextGrid', 'c.TextGrid']);
  t.deepEqual(readTextGrid(join(out, 'c.TextGrid')), readTextGrid(join(out, 'a "b".TextGrid')));
});

test('the tiers of speakers have their names', async (t) => {
  const segments = join(folder, 'segments.json');
  fs.writeFileSync(
    segments,
    JSON.stringify([
      { start: 0, end: 15, speaker: 'the "first"' },
      { start: 15, end: 39, speaker: 'B' },
    ]),
  );
  const path = join(folder, 'speakers.TextGrid');
  fs.writeFileSync(path, (await run('--output', 'textgrid', '--segments', segments, sample)).stdout);
  const names = Object.keys(readTextGrid(path).tiers);
  t.deepEqual(names, ['the "first" segments', 'the "first" utterances', 'B segments', 'B utterances']);
});

for (const [what, args, message] of [
  [
    'several recordings without --out',
    ['--output', 'textgrid', sample, sample],
    /folder for `--out`, got nothing/,
  ],
  [
    '--out beside CSV',
    ['--output', 'csv', '--out', folder, sample],
    /textgrid or audacity for `--output`, got csv/,
  ],
  [
    'two recordings of one name',
    ['--output', 'audacity', '--out', folder, sample, 'examples/sample.wav'],
    /different names for `--out`/,
  ],
] as const) {
  test(`refused: ${what}`, async (t) => {
    const { code, stderr } = await run(...args);
    t.is(code, 2);
    t.regex(stderr, message);
  });
}
