/** `undertone analyze` with a row for everything: CSV and Parquet. */
import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet';
import { analyze } from '../../src/tools/index.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { readNpy } from '../support/npy.ts';

const sample = resolve('examples/sample.wav');
const folder = makeFolder();
const notes = join(folder, 'notes.wav');
fs.writeFileSync(notes, 'no sound');

type Cells = Readonly<Record<string, string>>;

async function csvRows(...args: string[]): Promise<Cells[]> {
  const { stdout } = await runCli(['analyze', '--output', 'csv', ...args]);
  const [head = [], ...rows] = stdout
    .trimEnd()
    .split('\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"([^"]*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted ?? plain ?? ''),
    );
  return rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at] ?? ''])));
}

const report = (async () => JSON.parse((await runCli(['analyze', '--jsonl', sample])).stdout))();

test('--wide has intervals, probabilities and every measure of the report', async (t) => {
  const { emotion, cognitive } = await report;
  const [row = {}] = await csvRows('--wide', sample);
  const { intervals, emotions } = emotion.signals;
  t.deepEqual([row.valence_low, row.valence_high].map(Number), intervals.valence);
  t.is(Number(row.processing_high), cognitive.signals.intervals.processing[1]);
  for (const [label, probability] of Object.entries<number>(emotions))
    t.is(Number(row[`p_${label}`]), probability);
  for (const [name, measure] of Object.entries<{ value: number }>(cognitive.measures))
    t.is(Number(row[name]), measure.value, name);
  t.is(row.dominant_emotion, emotion.signals.dominant_emotion);
});

test('--by utterance has a row per entry of the timeline', async (t) => {
  const { emotion } = await report;
  const rows = await csvRows('--by', 'utterance', sample, notes);
  t.is(rows.length, emotion.timeline.length + 1);
  for (const [at, entry] of emotion.timeline.entries()) {
    const row = rows[at] as Cells;
    t.deepEqual([row.path, row.utterance], [sample, String(at)]);
    t.deepEqual([row.start_s, row.end_s, row.valence].map(Number), [
      entry.start_s,
      entry.end_s,
      entry.valence,
    ]);
    t.is(Number(row.p_neutral), entry.emotions.neutral);
    t.is(Number(row.arousal_low), entry.intervals.arousal[0]);
    t.deepEqual(
      [row.dominant_emotion, Number(row.emotion_confidence)],
      [entry.dominant_emotion, entry.confidence],
    );
  }
  t.regex(rows.at(-1)?.error ?? '', /Expected an audio file/);
});

test('--by segment has the speech and pauses', async (t) => {
  const { segments } = await report;
  const rows = await csvRows('--by', 'segment', sample);
  t.deepEqual(
    rows.map(({ type, start_s, end_s }) => ({ type, start_s: Number(start_s), end_s: Number(end_s) })),
    segments,
  );
});

test('Parquet has the rows of the wide CSV, with types', async (t) => {
  const path = join(folder, 'signals.parquet');
  for (const by of ['file', 'utterance', 'segment']) {
    const rows = await csvRows('--by', by, sample, notes);
    const shell = ['analyze', '--output', 'parquet', '--by', by, sample, notes];
    const { stdout } = await runCli(shell, { encoding: 'latin1' });
    fs.writeFileSync(path, stdout, 'latin1');
    const file = await asyncBufferFromFile(path);
    const { children } = parquetSchema(await parquetMetadataAsync(file));
    t.deepEqual(
      children.map(({ element }) => element.name),
      Object.keys(rows[0] ?? {}),
    );
    const objects = await parquetReadObjects({ file });
    const asText = objects.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value ?? '')])),
    );
    t.deepEqual(asText, rows, by);
  }
});

for (const [args, message] of [
  [['--output', 'csv', '--by', 'word'], 'Expected file, utterance, segment for `--by`, got "word"'],
  [['--by', 'utterance'], 'Expected csv or parquet for `--output`, got text with --by'],
  [
    ['--output', 'csv', '--by', 'utterance', '--signals', 'cognitive'],
    'Expected emotion among --signals for `--by utterance`, got cognitive',
  ],
  [['--jsonl', '--wide'], 'Expected csv or parquet for `--output`, got jsonl with --wide'],
] as const) {
  test(`analyze ${args.join(' ')} ends with 2`, async (t) => {
    const { code, stderr } = await runCli(['analyze', ...args, sample]);
    t.deepEqual({ code, stderr }, { code: 2, stderr: `${message}\n` });
  });
}

test('--embeddings has a row for each row of the output, of NaN for a file that failed', async (t) => {
  const { embeddings } = await analyze(fs.readFileSync(sample), { embeddings: true });
  const out = join(makeFolder(), 'new', 'talk.npy');
  const expected = {
    file: [embeddings?.recording as Float32Array],
    utterance: (embeddings?.timeline ?? []).map(({ embedding }) => embedding),
  };
  for (const [by, rows] of Object.entries(expected)) {
    const csv = await csvRows('--by', by, '--embeddings', out, sample, notes);
    const { shape, data } = readNpy(out);
    const width = rows[0]?.length ?? 0;
    t.deepEqual(shape, [csv.length, width]);
    t.is(csv.length, rows.length + 1);
    t.deepEqual(
      rows.map((_, row) => data.slice(row * width, (row + 1) * width)),
      rows,
    );
    t.true(data.subarray(rows.length * width).every(Number.isNaN));
  }
});

for (const [options, message] of [
  [['--embeddings', 'talk.bin'], 'Expected a file named .npy for `--embeddings`, got talk.bin'],
  [
    ['--embeddings', 'a.npy', '--output', 'csv', '--by', 'segment'],
    'Expected --by file or --by utterance for `--embeddings`, got --by segment',
  ],
  [
    ['--embeddings', 'a.npy', '--channels', 'split'],
    'Expected no --channels for `--embeddings`, got both: remove one of them',
  ],
] as const) {
  test(`refuses ${options.join(' ')}`, async (t) => {
    const { code, stderr } = await runCli(['analyze', sample, ...options]);
    t.is(code, 2);
    t.true(stderr.includes(message), stderr);
  });
}
