import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Row, type Run, root } from './case.ts';
import { provenance } from './provenance.ts';
import { showFigure, writeTables } from './tables.ts';
import { printTable } from './text-table.ts';

const here = fileURLToPath(import.meta.url);
/** A case that fails by itself ends with 1. */
const missedCode = 3;
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

/** Each case in a process of its own, so that none finds the memory of another; then the tables and the sum of it all. */
function runAll(options: readonly string[]): boolean {
  const lines = caseNames().map((name) => {
    const started = performance.now();
    console.log(`\n== ${name}`);
    const { status } = spawnSync(process.execPath, [...process.execArgv, here, name, ...options], {
      stdio: 'inherit',
    });
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    return { name, seconds, verdict: verdicts[status ?? -1] ?? 'FAILED', met: status === 0 };
  });
  writeTables();
  console.log();
  printTable([['case', 's', ''], ...lines.map(({ name, seconds, verdict }) => [name, seconds, verdict])]);
  return lines.every(({ met }) => met);
}

const verdicts: Readonly<Record<number, string>> = { 0: 'all goals met', [missedCode]: 'some goals MISSED' };

const [name = ''] = process.argv.slice(2);
if (name === 'tables') {
  writeTables();
} else if (name === '' || name.startsWith('--')) {
  if (!runAll(process.argv.slice(2))) process.exitCode = missedCode;
} else if (!caseNames().includes(name)) {
  console.error(`Expected one of ${caseNames().join(', ')} or tables for \`case\`, got "${name}"`);
  process.exitCode = 2;
} else if (!(await runCase(name))) {
  process.exitCode = missedCode;
}
