/** Writes the tables of README.md and docs/benchmarks.md from benchmarks/results. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Figure, type Row, root } from './case.ts';
import { remarks } from './notes.ts';
import { describeProvenance, type Provenance, readResults } from './results.ts';
import { markdownTable } from './text-table.ts';

type Result = Provenance & { readonly case: string; readonly rows: readonly Row[] };

const marks = { start: '<!-- bench -->\n', end: '<!-- /bench -->' };

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

Each case measures its peer and Undertone on the same audio in the same run and exits non-zero when a goal is missed; peers are
installed into a git-ignored folder. Figures are medians with the 10th and 90th percentile. \`npm run bench\` runs every case;
\`npm run bench -- tables\` writes this page and the table in the README from \`benchmarks/results\`.`;

/** What the README compares: one row of a result each. */
const headlines = [
  [
    'Features: log-mel 80 of 10 s, one core',
    'features: log-mel 80 against torchaudio, 10 s',
    'torchaudio',
    'faster',
  ],
  ['Decode: 10 s of 16 kHz WAV', 'decode: 10s-16k-mono.wav', "FFmpeg's libraries", 'faster'],
  [
    'Request: both signals of 10 s, processor time outside the models',
    'peer: both signals, outside the sessions',
    'FastAPI with librosa',
    'faster',
  ],
  [
    'Latency under load: p99 of both signals of 10 s, 8 clients',
    'peer: whole service, p99 under load',
    'FastAPI with librosa and the same models',
    'faster',
  ],
  [
    'Memory under the same load',
    'peer: whole service, memory under load',
    'FastAPI with librosa and the same models',
    'less memory',
  ],
] as const;

const showTimes = (times: number) => (times >= 10 ? times.toFixed(0) : times.toFixed(1));

/** Rows that no kept result has are left out. */
function readmeTable(results: readonly Result[]): string {
  const rows = results.flatMap((result) =>
    result.rows.map((row) => ({ ...row, id: `${result.case}: ${row.name}` })),
  );
  const lines = headlines.flatMap(([what, wanted, peer, gain]) => {
    const found = rows.find(({ id }) => id === wanted);
    if (!found?.ours || !found.peer) return [];
    const times = found.peer.median / found.ours.median;
    const ours = `${showFigure(found.ours)} ${found.unit}`;
    const theirs = `${peer}: ${showFigure(found.peer)} ${found.unit}`;
    return [[what, ours, theirs, `**${showTimes(times)} times** ${gain}`]];
  });
  return `${markdownTable(['What', 'Undertone', 'Peer, same run', ''], lines)}\n`;
}

function replaceMarked(text: string, content: string): string {
  const start = text.indexOf(marks.start) + marks.start.length;
  const end = text.indexOf(marks.end);
  if (start < marks.start.length || end < start)
    throw new Error(`Expected ${marks.start.trim()} in README.md`);
  return text.slice(0, start) + content + text.slice(end);
}

export function writeTables(): void {
  const results = readResults<Result>(join(root, 'benchmarks', 'results'));
  writeFileSync(
    join(root, 'docs', 'benchmarks.md'),
    `${[introduction, ...results.map(section)].join('\n\n')}\n`,
  );
  const readme = join(root, 'README.md');
  writeFileSync(readme, replaceMarked(readFileSync(readme, 'utf8'), readmeTable(results)));
}
