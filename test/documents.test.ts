/** Tables of the documents that are made from the code or quoted from results, columns, and links. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'ava';
import { describeDocuments } from '../scripts/documents.ts';
import { allColumns } from '../src/tools/columns.ts';

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

const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);

test('rows that a page quotes are rows of the results', (t) => {
  const quotes = pages.flatMap((page) => {
    const found = readFileSync(page, 'utf8').matchAll(/<!-- rows of (\S+) -->\n(.*?)<!-- end of rows -->/gs);
    return [...found].map(([, file = '', rows = '']) => ({ page, file, rows }));
  });
  t.true(quotes.length >= 4);
  for (const { page, file, rows } of quotes) {
    const lines = new Set(readFileSync(join('docs', file), 'utf8').split('\n'));
    for (const row of rows.split('\n').filter((line) => line !== ''))
      t.true(lines.has(row), `${page}: ${row}`);
  }
});

/** As GitHub makes them of the headings. */
function anchorsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').replace(/^```.*?^```$/gms, '');
  const headings = text.match(/(?<=^#+ ).*/gm) ?? [];
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

test('links of the documents lead to files and headings', (t) => {
  for (const page of [...pages, 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'training/README.md']) {
    const links = readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g);
    for (const [link, path = '', anchor] of links) {
      const file = path === '' ? page : normalize(join(dirname(page), path));
      t.true(existsSync(file), `${page}: ${link}`);
      if (anchor !== undefined && existsSync(file) && statSync(file).isFile())
        t.true(anchorsOf(file).includes(anchor), `${page}: ${link}`);
    }
  }
});
