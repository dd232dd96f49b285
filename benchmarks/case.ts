/** What a case of a benchmark uses: figures and goals, programs, tables, and results with the commit and the machine that they were measured on. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ExpectedError } from '../scripts/run-script.ts';

/** A figure measured several times: median with the 10th and 90th percentile. */
export type Figure = { readonly median: number; readonly low: number; readonly high: number };

/** One line of a benchmark. `peer` is null when it could not be measured: then the goal is missed. */
export type Row = {
  readonly name: string;
  readonly unit: string;
  readonly peer: Figure | null;
  readonly ours: Figure | null;
  /** What the ratio must reach, in words: '>= 2', '<= 1.4'. */
  readonly goal: string;
  readonly ratio: number | null;
  readonly met: boolean;
  readonly note: string;
};

/** Rows, and what else is kept in the results for a table or a picture of its own. */
export type Measured = { readonly rows: readonly Row[] } & Readonly<Record<string, unknown>>;

/** What each file of benchmarks/cases exports as `run`. Peers that are absent are installed by the case. */
export type Run = () => Promise<readonly Row[] | Measured>;

function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findRoot(dirname(folder));
}

export const root = findRoot(dirname(fileURLToPath(import.meta.url)));

/** Git-ignored place for peers, builds and generated audio. */
export function cacheFolder(name: string): string {
  const folder = join(root, '.cache', name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

export function figure(values: readonly number[]): Figure | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return { median: at(0.5), low: at(0.1), high: at(0.9) };
}

/** Measures all sides once a round, so that a change of the machine's speed is one of all of them. */
export async function inTurns<Side>(
  sides: readonly Side[],
  rounds: number,
  measure: (side: Side) => Promise<readonly number[]>,
): Promise<(Figure | null)[]> {
  const measured: number[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, side] of sides.entries()) measured[index]?.push(...(await measure(side)));
  }
  return measured.map(figure);
}

type Comparison = {
  readonly name: string;
  readonly unit: string;
  readonly peer: Figure | null;
  readonly ours: Figure | null;
  readonly note: string;
};

function row(comparison: Comparison, ratio: number | null, goal: string, met: boolean): Row {
  return { ...comparison, ratio, goal, met };
}

/** Ours is at least `goal` times faster than the peer; both are durations. */
export function atLeast(goal: number, comparison: Comparison): Row {
  const { peer, ours } = comparison;
  const ratio = peer && ours ? peer.median / ours.median : null;
  return row(comparison, ratio, `>= ${goal}`, ratio !== null && ratio >= goal);
}

/** Ours takes at most `goal` times the peer's duration. */
export function atMost(goal: number, comparison: Comparison): Row {
  const { peer, ours } = comparison;
  const ratio = peer && ours ? ours.median / peer.median : null;
  return row(comparison, ratio, `<= ${goal}`, ratio !== null && ratio <= goal);
}

/** A figure against a limit, which stands in the place of the peer. */
export function withinLimit(limit: number, name: string, unit: string, ours: Figure | null, note = ''): Row {
  return atMost(1, {
    name,
    unit,
    peer: figure([limit]),
    ours,
    note: ['peer: the limit', note].filter(Boolean).join('; '),
  });
}

/** A count that reaches a goal, which stands in the place of the peer. */
export function reaches(goal: number, name: string, unit: string, count: number, note = ''): Row {
  const ratio = count / goal;
  const met = ratio >= 1;
  return { name, unit, peer: figure([goal]), ours: figure([count]), goal: '>= 1', ratio, met, note };
}

/** Runs a program to its end; throws with the end of its output when it fails. */
export function runProgram(program: string, args: readonly string[]): string {
  const result = spawnSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (result.error) throw result.error;
  if (result.status === 0) return result.stdout;
  throw new ExpectedError(
    `${program} exited with ${result.status}: ${`${result.stdout}${result.stderr}`.slice(-800)}`,
  );
}

/** Infinite when the two are of different lengths. */
export function largestDifference(theirs: Float32Array, own: Float32Array): number {
  if (theirs.length !== own.length) return Number.POSITIVE_INFINITY;
  let worst = 0;
  for (let index = 0; index < own.length; index++) {
    const difference = Math.abs((own[index] ?? 0) - (theirs[index] ?? 0));
    if (!(difference <= worst)) worst = difference;
  }
  return worst;
}

/** Whether a program is there and content. */
export function succeeds(program: string, args: readonly string[]): boolean {
  try {
    runProgram(program, args);
    return true;
  } catch {
    return false;
  }
}

export function printTable(lines: readonly (readonly string[])[]): void {
  const widths =
    lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  for (const line of lines) {
    const cells = line.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    console.log(cells.join('  ').trimEnd());
  }
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '/')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export type Provenance = {
  readonly commit: string;
  readonly date: string;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string };
};

/** What the commands themselves write. */
const written = [
  'benchmarks/results',
  'docs/benchmarks.md',
  'docs/results',
  'test/reliability/results',
  'README.md',
];

function provenance(): Provenance {
  const hash = runProgram('git', ['rev-parse', '--short=12', 'HEAD']).trim();
  const files = ['--', '.', ...written.map((path) => `:!${path}`)];
  const changed =
    runProgram('git', ['status', '--porcelain', '--untracked-files=no', ...files]).trim() !== '';
  return {
    commit: changed ? `${hash} with changes` : hash,
    date: new Date().toISOString(),
    machine: { cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), node: process.version },
  };
}

/** One line for the page that shows the figures. */
export function describeProvenance({ commit, date, machine }: Provenance): string {
  return `commit ${commit}, ${date.slice(0, 10)}, ${machine.cores} cores of ${machine.cpu}, Node ${machine.node}`;
}

const extension = extname(fileURLToPath(import.meta.url));

export function caseNames(folder: string): string[] {
  const files = readdirSync(folder).filter((file) => extname(file) === extension);
  return files.map((file) => file.slice(0, -extension.length)).sort();
}

/** What the file of the case exports as `run`. */
export async function importRun<Run>(folder: string, name: string): Promise<Run> {
  const { run } = (await import(pathToFileURL(join(folder, `${name}${extension}`)).href)) as { run: Run };
  return run;
}

export function writeResult(folder: string, name: string, measured: object): void {
  mkdirSync(folder, { recursive: true });
  const result = { case: name, ...provenance(), ...measured };
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result)}\n`);
}

/** Sorted by name. */
export function readResults<Result>(folder: string): Result[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Result);
}
