/** The tables of the documents that are made from the code: columns, scores, properties of recordings, warnings and metrics. */
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import type { FeatureSpec } from '../src/engine/platform.ts';
import { audioSchema, definitions, signals } from '../src/engine/schema.ts';
import { warningNames, warnings } from '../src/engine/warnings.ts';
import { prosodyColumns, specs } from '../src/node/feature-specs.ts';
import { createMetrics } from '../src/service/http/metrics.ts';
import { allColumns, type Column } from '../src/tools/columns.ts';

/** @returns the texts of the documents with such tables, by path */
export async function describeDocuments(): Promise<Readonly<Record<string, string>>> {
  return {
    'docs/columns.md': describeColumns(),
    'docs/http-api.md': withTables('docs/http-api.md', {
      '| Score | Signal | Meaning |': scoreRows(),
      '| Property | Meaning |': propertyRows(),
      '| Warning | Condition | Meaning |': warningRows(),
    }),
    'docs/operations.md': withTables('docs/operations.md', { '| Metric | What |': await metricRows() }),
  };
}

/** The document with other rows below the headings of tables. */
function withTables(path: string, tables: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(tables).reduce(
    (text, [heading, rows]) => withTable(path, text, heading, rows),
    readFileSync(path, 'utf8'),
  );
}

function withTable(path: string, text: string, heading: string, rows: readonly string[]): string {
  const [before, after, ...others] = text.split(`${heading}\n`);
  if (before === undefined || after === undefined || others.length > 0)
    throw new Error(
      `Expected one table "${heading}" in ${path}, got ${others.length === 0 ? 'none' : 'several'}`,
    );
  const [line = '', ...rest] = after.split('\n');
  const end = rest.findIndex((row) => !row.startsWith('|'));
  return `${before}${heading}\n${[line, ...rows, ...rest.slice(end)].join('\n')}`;
}

/** Of every signal, from the schema in its file. */
function scoreRows(): string[] {
  return signals.flatMap((signal) => {
    const { shape } = definitions[signal].body.options[0] as z.ZodObject<{ signals: z.ZodObject }>;
    return Object.entries(shape.signals.shape).map(
      ([name, schema]) => `| \`${name}\` | ${signal} | ${(schema as z.ZodType).description} |`,
    );
  });
}

const propertyRows = () =>
  Object.entries(audioSchema.shape).map(([name, { description }]) => `| \`${name}\` | ${description} |`);

const warningRows = () =>
  warningNames.map((name) => `| \`${name}\` | ${warnings[name].condition} | ${warnings[name].text} |`);

async function metricRows(): Promise<string[]> {
  const none = () => 0;
  const metrics = createMetrics();
  metrics.addGauges({
    bodies: { used: none, keys: none },
    accountBodies: { used: none },
    results: { used: none },
    pool: () => ({ queued: 0, running: 0, lost: 0, accounts: 0, displaced: 0 }),
    ready: () => true,
  });
  metrics.addUnread({ bytes: none, closed: none });
  metrics.addStreams({ sessions: none, bytes: none });
  metrics.addWriteFailures(() => ({ expiry: 0, usage: 0, last_used: 0 }));
  metrics.addJobGauges(
    async () => ({ waiting: 0, running: 0, oldest: 0, workers: 0, callbacks: 0, heldBytes: 0 }),
    none,
  );
  const found = [...(await metrics.text()).matchAll(/^# HELP (undertone_\w+) (.*)$/gm)];
  return found.map(([, name, help]) => `| \`${name}\` | ${help} |`);
}

const { labels } = JSON.parse(readFileSync('models/standard/emotion/manifest.json', 'utf8')) as {
  readonly labels: readonly string[];
};

const rowNames = { short: 'CSV', file: 'file', utterance: 'utterance', segment: 'segment' } as const;
const allRows = Object.values(rowNames).join(', ');

/** @returns the text of the document */
function describeColumns(): string {
  return `# Columns

After this page you can read every column of the files that the command writes. \`to_frame\` of the [Python client](../clients/python/README.md#data-frames) has the same names.

## CSV and Parquet

\`undertone analyze --output csv\` and \`--output parquet\`, and \`undertone bulk\` to a file named \`.csv\`, write these columns in this order. *Rows* says which rows have a column:

- CSV: one per recording, without \`--wide\` and from \`undertone bulk\`
- file: one per recording, with \`--wide\` or in Parquet
- utterance, segment: with \`--by utterance\` and \`--by segment\`

With \`--channels split\`, \`--segments\` or \`--speakers\` the rows are those of each channel or speaker. A recording that failed has one row with \`path\`, \`error\` and, where the rows have it, \`status\`. One without utterances
has no row per utterance. Values that a recording does not have are empty, in Parquet null. In Parquet, text is STRING, \`utterance\` INT32, all other columns DOUBLE.

| column | unit, range or values | meaning | rows |
|---|---|---|---|
${columnRows().join('\n')}

## Arrays

\`undertone features\` writes .npy files of float32, one row per 10 ms. Row 0 is centred on the start of the recording,
except for \`kaldi-...\`, whose row 0 covers the first 25 ms. \`--spec prosody\`:

| column | unit | meaning |
|---|---|---|
${prosodyColumns.map(({ unit, description }, at) => `| ${at} | ${unit} | ${description} |`).join('\n')}

Other specs:

| spec | columns | meaning |
|---|---|---|
${Object.entries(specs)
  .map(([name, spec]) => `| \`${name}\` | ${binsOf(spec)} | ${describeBins(spec)} |`)
  .join('\n')}

\`undertone analyze --embeddings FILE.npy\` writes a row per row of the output, NaN for a recording without scores, and a column per dimension of the
[embedding](adapt.md#embeddings). \`undertone embed\` writes JSON lines.
`;
}

/** Neighbours with the same meaning share a row. */
function columnRows(): string[] {
  const groups: (readonly [names: string[], cells: string])[] = [];
  for (const column of allColumns(labels)) {
    const [names, cells] = groups.at(-1) ?? [[], ''];
    if (cells === cellsOf(column)) names.push(column.name);
    else groups.push([[column.name], cellsOf(column)]);
  }
  return groups.map(([names, cells]) => `| ${names.map((name) => `\`${name}\``).join(', ')} ${cells}`);
}

function cellsOf({ unit, description, rows }: Column): string {
  const kinds = rows.map((kind) => rowNames[kind]).join(', ');
  return `| ${unit} | ${description} | ${kinds === allRows ? 'all' : kinds} |`;
}

const binsOf = ({ nMfcc, nMels }: FeatureSpec) => nMfcc ?? nMels;

function describeBins({ nMfcc, lifter, energy, ...spec }: FeatureSpec): string {
  const { lowHz, highHz, logBase, topDb, offset, scale } = spec;
  if (nMfcc !== null)
    return `MFCC, lifter ${lifter}${energy === 'log' ? '; column 0 is the log energy of the frame' : ''}`;
  return [
    `logarithm (base ${logBase}) of the power in mel bands from ${lowHz} to ${highHz} Hz`,
    ...(topDb === null ? [] : [`at least the maximum of the recording less ${topDb} dB`]),
    ...(offset === 0 ? [] : [`plus ${offset}`]),
    ...(scale === 1 ? [] : [`times ${scale}`]),
  ].join(', ');
}
