/** The tables of the documents that are made from the code, and the agreement of columns with reports and docs/measures.md. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { describeDocuments } from '../scripts/documents.ts';
import { allColumns } from '../src/tools/tables.ts';

const columns = allColumns(['neutral', 'angry']);
const { both } = JSON.parse(readFileSync('src/service/api/examples.json', 'utf8'));

for (const [path, text] of Object.entries(await describeDocuments()))
  test(`${path} is as \`npm run answers\` writes it`, (t) => t.is(readFileSync(path, 'utf8'), text));

test('every column has a name of its own, a unit, a meaning and rows', (t) => {
  t.is(new Set(columns.map(({ name }) => name)).size, columns.length);
  for (const { name, unit, description, rows } of columns) {
    t.true(rows.length > 0, name);
    t.regex(unit, /^\S/, name);
    t.regex(description, /^[^|\n]+\.$/, name);
  }
});

test('the measures are those of a report, with their units', (t) => {
  const units = Object.fromEntries(columns.map(({ name, unit }) => [name, unit]));
  const measures = Object.entries<{ unit: string }>(both.body.cognitive.measures);
  t.true(measures.length >= 13);
  for (const [name, { unit }] of measures) t.is(units[name], unit, name);
});

test('docs/measures.md defines the measures, with their units', (t) => {
  const [table = ''] = /^\| measure \| unit .*?\n\n/ms.exec(readFileSync('docs/measures.md', 'utf8')) ?? [];
  const defined = [...table.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(([, name, unit]) => [name, unit]);
  const first = columns.findIndex(({ name }) => name === 'pause_ratio');
  const end = columns.findIndex(({ name }) => name === 'moments');
  const measures = columns.slice(first, end).map(({ name, unit }) => [name, unit]);
  t.deepEqual(defined.sort(), measures.sort());
});
