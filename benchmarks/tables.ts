/** Writes the tables of README.md and docs/benchmarks.md from benchmarks/results: no figure is typed by hand. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Figure, type Row, root } from './case.ts';
import { describeProvenance, type Provenance } from './provenance.ts';
import { reasons, remarks } from './remarks.ts';
import { markdownTable } from './text-table.ts';

type Result = Provenance & { readonly case: string; readonly rows: readonly Row[] };

const marks = { start: '<!-- bench -->\n', end: '<!-- /bench -->' };

function readResults(): Result[] {
  const folder = join(root, 'benchmarks', 'results');
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Result);
}

export function showFigure(figure: Figure | null): string {
  if (figure === null) return '-';
  const digits = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
  if (figure.low === figure.high) return digits(figure.median);
  return `${digits(figure.median)} (${digits(figure.low)}-${digits(figure.high)})`;
}

const verdict = ({ met }: Row) => (met ? 'met' : '**missed**');
const ratioOf = ({ ratio }: Row) => ratio?.toFixed(2) ?? '-';

function section({ case: name, rows, ...measured }: Result): string {
  const body = rows.map((row) => [
    row.name,
    row.unit,
    showFigure(row.peer),
    showFigure(row.ours),
    ratioOf(row),
    row.goal,
    verdict(row),
    row.note,
  ]);
  return [
    `## ${name}`,
    `\`npm run bench -- ${name}\`, ${describeProvenance(measured)}.`,
    markdownTable(['Row', 'Unit', 'Peer', 'Ours', 'Ratio', 'Goal', '', 'Note'], body),
    ...(remarks[name] === undefined ? [] : [remarks[name]]),
  ].join('\n\n');
}

const introduction = `# Benchmarks

Each case runs its peer and ours on the same audio in the same run and exits non-zero when a goal is missed; peers are
installed into a git-ignored folder. Figures are medians with the 10th and 90th percentile. This page and the README's
table are written by \`npm run bench -- tables\` from \`benchmarks/results\`; \`npm run bench\` runs every case and writes them.`;

/** How far a ratio is from its goal; a row that could not be measured or whose results differ has none. */
function distance({ goal, ratio }: Row): string {
  const [, sign, limit] = /^([<>]=?) ([\d.]+)$/.exec(goal) ?? [];
  if (ratio === null || limit === undefined) return 'not reached';
  const percent = 100 * Math.abs(ratio / Number(limit) - 1);
  return `${percent.toFixed(0)} % ${sign?.startsWith('<') ? 'above' : 'below'} it`;
}

/** Every row that misses its goal, by how much, and why. */
function missedGoals(results: readonly Result[]): string {
  const lines = results.flatMap(({ case: name, rows }) =>
    rows
      .filter(({ met }) => !met)
      .map((row) => {
        const reason = (reasons[name]?.[row.name] ?? 'No reason is known.').replace(/\s+/g, ' ');
        return `- **${name}: ${row.name}**, ${ratioOf(row)} for a goal of ${row.goal}, ${distance(row)}. ${reason}`;
      }),
  );
  return ['## Missed goals', lines.length === 0 ? 'None.' : lines.join('\n')].join('\n\n');
}

/** One row a case: the spread of its ratios, and how many goals it met. */
function readmeTable(results: readonly Result[]): string {
  const rows = results.map(({ case: name, rows }) => {
    const ratios = rows.flatMap(({ ratio }) => (ratio === null ? [] : [ratio]));
    const ends = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2));
    const goals = rows.filter(({ goal }) => goal !== 'none');
    const missed = goals.filter(({ met }) => !met).map((row) => row.name);
    const met = `${goals.length - missed.length} of ${goals.length}`;
    const verdict = missed.length === 0 ? met : `${met}; **missed**: ${missed.join(', ')}`;
    return [name, ratios.length === 0 ? '-' : [...new Set(ends)].join(' to '), verdict];
  });
  return `${markdownTable(['Case', 'Ratio to the peer', 'Goals met'], rows)}\n`;
}

function replaceMarked(text: string, content: string): string {
  const start = text.indexOf(marks.start) + marks.start.length;
  const end = text.indexOf(marks.end);
  if (start < marks.start.length || end < start)
    throw new Error(`Expected ${marks.start.trim()} in README.md`);
  return text.slice(0, start) + content + text.slice(end);
}

export function writeTables(): void {
  const results = readResults();
  writeFileSync(
    join(root, 'docs', 'benchmarks.md'),
    `${[introduction, missedGoals(results), ...results.map(section)].join('\n\n')}\n`,
  );
  const readme = join(root, 'README.md');
  writeFileSync(readme, replaceMarked(readFileSync(readme, 'utf8'), readmeTable(results)));
}
