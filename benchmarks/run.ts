import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Row, type Run, root, runProgram } from './case.ts';
import { showFigure, writeTables } from './tables.ts';

const here = fileURLToPath(import.meta.url);
const casesFolder = join(dirname(here), 'cases');

function caseNames(): string[] {
  const files = readdirSync(casesFolder).filter((file) => extname(file) === extname(here));
  return files.map((file) => file.slice(0, -extname(file).length)).sort();
}

function cells(row: Row): string[] {
  const ratio = row.ratio === null ? '-' : row.ratio.toFixed(2);
  const verdict = row.met ? 'met' : 'MISSED';
  return [row.name, row.unit, showFigure(row.peer), showFigure(row.ours), ratio, row.goal, verdict, row.note];
}

function printTable(rows: readonly Row[]): void {
  const lines = [['row', 'unit', 'peer', 'ours', 'ratio', 'goal', '', 'note'], ...rows.map(cells)];
  const widths =
    lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  for (const line of lines) {
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}

function machine(): { cpu: string; cores: number; node: string } {
  return { cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), node: process.version };
}

function commit(): string {
  const hash = runProgram('git', ['rev-parse', '--short=12', 'HEAD']).trim();
  const changed = runProgram('git', ['status', '--porcelain', '--untracked-files=no']).trim() !== '';
  return changed ? `${hash} with changes` : hash;
}

function writeResult(name: string, rows: readonly Row[]): void {
  const folder = join(root, 'benchmarks', 'results');
  mkdirSync(folder, { recursive: true });
  const result = { case: name, commit: commit(), date: new Date().toISOString(), machine: machine(), rows };
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
}

async function runCase(name: string): Promise<boolean> {
  const file = pathToFileURL(join(casesFolder, `${name}${extname(here)}`));
  const { run } = (await import(file.href)) as { run: Run };
  const rows = await run();
  printTable(rows);
  writeResult(name, rows);
  return rows.every((row) => row.met);
}

const name = process.argv[2] ?? '';
if (name === 'tables') {
  writeTables();
} else if (!caseNames().includes(name)) {
  console.error(`Expected one of ${caseNames().join(', ')} or tables for \`case\`, got "${name}"`);
  process.exitCode = 2;
} else if (!(await runCase(name))) {
  process.exitCode = 1;
}
