/** Writes docs/results/benchmarks.md, and the table of README.md and docs/benchmarks.md, from benchmarks/results. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Figure, type Row, root } from './case.ts';
import type { Load } from './cases/peers.ts';
import { loadsPicture } from './loads-picture.ts';
import { remarks } from './notes.ts';
import { describeProvenance, type Provenance, readResults } from './results.ts';
import { markdownTable } from './text-table.ts';

type Result = Provenance & {
  readonly case: string;
  readonly rows: readonly Row[];
  readonly loads?: readonly Load[];
};

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

const introduction = `# Results: benchmarks

Each case measures its peer and Undertone on the same audio in the same run and exits non-zero when a goal is missed; peers are
installed into a git-ignored folder. Figures are medians with the 10th and 90th percentile. \`npm run bench\` runs every case;
\`npm run bench -- tables\` writes this page and the table of README.md and docs/benchmarks.md from \`benchmarks/results\`.`;

/** What README.md and docs/benchmarks.md compare: one row of a result each. */
const headlines = [
  [
    'Both signals of 10 s of speech, one connection',
    'peers: both signals of 10 s against the eGeMAPS features of openSMILE alone',
    'openSMILE, eGeMAPS features alone',
    'faster',
  ],
  [
    'The same, 8 connections: throughput',
    'peers: whole service, throughput, 8 connections',
    'FastAPI with librosa and the same models',
    'faster',
  ],
  [
    'The same, 8 connections: p99',
    'peers: whole service, p99, 8 connections',
    'FastAPI with librosa and the same models',
    'faster',
  ],
  [
    'Emotion alone, 8 connections: throughput',
    'peers: emotion alone, throughput, FastAPI, 8 connections',
    'FastAPI with librosa, without pitch',
    'faster',
  ],
  [
    'Memory under load',
    'peers: whole service, memory, 8 connections',
    'FastAPI with librosa and the same models',
    'less memory',
  ],
] as const;

const showTimes = (times: number) => (times >= 10 ? times.toFixed(0) : times.toFixed(1));

/** Rows that no kept result has are left out. */
function headlineTable(results: readonly Result[]): string {
  const rows = results.flatMap((result) =>
    result.rows.map((row) => ({ ...row, id: `${result.case}: ${row.name}` })),
  );
  const lines = headlines.flatMap(([what, wanted, peer, gain]) => {
    const found = rows.find(({ id }) => id === wanted);
    if (!found?.ours || !found.peer) return [];
    const times = found.peer.median / found.ours.median;
    const ours = `${showFigure(found.ours)} ${found.unit}`;
    const theirs = `${peer}: ${showFigure(found.peer)} ${found.unit}`;
    const shown = showTimes(times);
    return [[what, ours, theirs, shown === '1.0' ? 'equal' : `**${shown} times** ${gain}`]];
  });
  const table = markdownTable(['What', 'Undertone', 'Peer, same run', ''], lines);
  return `${[table, ...memorySentence(results)].join('\n\n')}\n`;
}

/** Rows of the case `memory` that the table quotes. */
export const memoryRows = {
  idle: 'resident, idle',
  before: 'resident, after short requests',
  after: 'resident, after short requests that follow long recordings',
} as const;

/** Resident memory of a process; empty without a result. */
function memorySentence(results: readonly Result[]): string[] {
  const rows = results.find((result) => result.case === 'memory')?.rows ?? [];
  const of = (name: string) => rows.find((row) => row.name === name)?.ours?.median.toFixed(0);
  const [idle, before, after] = [memoryRows.idle, memoryRows.before, memoryRows.after].map(of);
  if (idle === undefined || before === undefined || after === undefined) return [];
  return [
    `In a run of its own, a process with two workers holds ${idle} MiB when idle, ${before} MiB after a thousand requests, and ${after} MiB after a thousand
that follow recordings of 13 minutes.`,
  ];
}

function replaceMarked(path: string, content: string): void {
  const text = readFileSync(join(root, path), 'utf8');
  const start = text.indexOf(marks.start) + marks.start.length;
  const end = text.indexOf(marks.end);
  if (start < marks.start.length || end < start) throw new Error(`Expected ${marks.start.trim()} in ${path}`);
  writeFileSync(join(root, path), text.slice(0, start) + content + text.slice(end));
}

const loadsHead = ['Service', 'Connections', 'p50, ms', 'p99, ms', 'Requests/s', 'Memory, MiB'];

function loadsSection(loads: readonly Load[], measured: Provenance): string {
  const digits = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
  const body = loads.map(({ service, connections, p50, p99, perSecond, mebibytes }) => [
    service,
    String(connections),
    digits(p50),
    digits(p99),
    digits(perSecond),
    mebibytes.toFixed(0),
  ]);
  return [
    '## Whole services',
    '![Latency of whole services: median to 99th percentile](../pictures/peers.svg)',
    `Both signals of 10 s of speech as WAV, and emotion alone, which needs no pitch. All run the same graphs with a process or worker
per core; every connection sends its next request when it has its answer. \`npm run bench -- peers\`, ${describeProvenance(measured)}.`,
    markdownTable(loadsHead, body),
  ].join('\n\n');
}

export function writeTables(): void {
  const results = readResults<Result>(join(root, 'benchmarks', 'results'));
  const whole = results.flatMap(({ loads, ...measured }) => {
    if (loads === undefined) return [];
    writeFileSync(join(root, 'docs', 'pictures', 'peers.svg'), loadsPicture(loads));
    return [loadsSection(loads, measured)];
  });
  writeFileSync(
    join(root, 'docs', 'results', 'benchmarks.md'),
    `${[introduction, ...whole, ...results.map(section)].join('\n\n')}\n`,
  );
  for (const path of ['README.md', 'docs/benchmarks.md']) replaceMarked(path, headlineTable(results));
}
