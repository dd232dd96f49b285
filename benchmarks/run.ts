import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Row, type Run, root } from './case.ts';
import { provenance } from './provenance.ts';
import { showFigure, writeTables } from './tables.ts';
import { printTable } from './text-table.ts';

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

function writeResult(name: string, rows: readonly Row[]): void {
  const folder = join(root, 'benchmarks', 'results');
  mkdirSync(folder, { recursive: true });
  const result = { case: name, ...provenance(), rows };
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
}

async function runCase(name: string): Promise<boolean> {
  const file = pathToFileURL(join(casesFolder, `${name}${extname(here)}`));
  const { run } = (await import(file.href)) as { run: Run };
  const rows = await run();
  printTable([['row', 'unit', 'peer', 'ours', 'ratio', 'goal', '', 'note'], ...rows.map(cells)]);
  if (!process.argv.includes('--check')) writeResult(name, rows);
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
