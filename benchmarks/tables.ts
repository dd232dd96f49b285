/** Writes the tables of README.md and docs/benchmarks.md from benchmarks/results: no figure is typed by hand. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Figure, type Row, root } from './case.ts';

type Result = {
  readonly case: string;
  readonly commit: string;
  readonly date: string;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string };
  readonly rows: readonly Row[];
};

const marks = { start: '<!-- bench -->\n', end: '<!-- /bench -->' };

function readResults(): Result[] {
  const folder = join(root, 'benchmarks', 'results');
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Result);
}

export function showFigure(figure: Figure | null): string {
  if (figure === null) return '-';
  const digits = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
  return `${digits(figure.median)} (${digits(figure.low)}-${digits(figure.high)})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '/')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const verdict = ({ met }: Row) => (met ? 'met' : '**missed**');
const ratioOf = ({ ratio }: Row) => ratio?.toFixed(2) ?? '-';

function section({ case: name, commit, date, machine, rows }: Result): string {
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
    `\`npm run bench -- ${name}\`, commit ${commit}, ${date.slice(0, 10)}, ${machine.cores} cores of ${machine.cpu}, Node ${machine.node}.`,
    table(['Row', 'Unit', 'Peer', 'Ours', 'Ratio', 'Goal', '', 'Note'], body),
  ].join('\n\n');
}

const introduction = `# Benchmarks

Each case runs its peer and ours on the same audio in the same run and exits non-zero when a goal is missed; peers are
installed into a git-ignored folder. Figures are medians with the 10th and 90th percentile. This page and the README's
table are written by \`npm run bench -- tables\` from \`benchmarks/results\`.`;

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
  return `${table(['Case', 'Ratio to the peer', 'Goals met'], rows)}\n`;
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
    `${[introduction, ...results.map(section)].join('\n\n')}\n`,
  );
  const readme = join(root, 'README.md');
  writeFileSync(readme, replaceMarked(readFileSync(readme, 'utf8'), readmeTable(results)));
}
