import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { requireNames, runScript } from '../scripts/run-script.ts';
import { caseNames, importRun, printTable, type Row, type Run, root, writeResult } from './case.ts';
import { showFigure, writeTables } from './tables.ts';

const here = fileURLToPath(import.meta.url);
/** A case that fails by itself ends with 1. */
const missedCode = 3;
const casesFolder = join(dirname(here), 'cases');

function cells(row: Row): string[] {
  const ratio = row.ratio === null ? '-' : row.ratio.toFixed(2);
  const verdict = row.met ? 'met' : 'MISSED';
  return [row.name, row.unit, showFigure(row.peer), showFigure(row.ours), ratio, row.goal, verdict, row.note];
}

async function runCase(name: string): Promise<boolean> {
  const run = await importRun<Run>(casesFolder, name);
  const found = await run();
  const measured = 'rows' in found ? found : { rows: found };
  const { rows } = measured;
  printTable([['row', 'unit', 'peer', 'ours', 'ratio', 'goal', '', 'note'], ...rows.map(cells)]);
  if (!process.argv.includes('--check')) writeResult(join(root, 'benchmarks', 'results'), name, measured);
  return rows.every((row) => row.met);
}

/** Each case in a process of its own, so that none finds the memory of another; then the tables and the sum of it all. */
function runAll(names: readonly string[], options: readonly string[]): boolean {
  const lines = names.map((name) => {
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

await runScript(async () => {
  // Cases read the options themselves.
  const options = {
    long: { type: 'boolean' },
    check: { type: 'boolean' },
    keep: { type: 'boolean' },
  } as const;
  const { values, positionals: names } = parseArgs({ options, allowPositionals: true });
  const known = caseNames(casesFolder);
  requireNames([...known, 'tables'], names);
  const [name = ''] = names;
  if (name === 'tables') return writeTables();
  const given = Object.keys(values).map((option) => `--${option}`);
  const met = names.length === 1 ? await runCase(name) : runAll(names.length > 0 ? names : known, given);
  if (!met) process.exitCode = missedCode;
});
