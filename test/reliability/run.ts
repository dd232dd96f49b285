/** npm run reliability -- CASE [--long] [--seed N] [--count N]: runs a case, prints its figures, fails when a goal is missed. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { caseNames, importRun, printTable, writeResult } from '../../benchmarks/case.ts';
import { ExpectedError, requireNames, runScript } from '../../scripts/run-script.ts';
import type { Options, Row, Run } from './case.ts';
import { resultsFolder, showValue, writePage } from './page.ts';

const casesFolder = fileURLToPath(new URL('cases', import.meta.url));

/** Cases without figures: programs with arguments of their own. */
const programs: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  neon: ['sh', 'scripts/neon.sh'],
  pipecat: [process.execPath, '--import=tsx', 'test/clients/agent.ts', 'pipecat'],
  livekit: [process.execPath, '--import=tsx', 'test/clients/agent.ts', 'livekit'],
  install: [process.execPath, '--import=tsx', 'test/install/run.ts'],
};

function natural(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ExpectedError(`Expected a whole number for \`${name}\`, got "${text}"`);
}

function parse(): { name: string; options: Options } {
  const { values, positionals } = parseArgs({
    options: { long: { type: 'boolean' }, seed: { type: 'string' }, count: { type: 'string' } },
    allowPositionals: true,
  });
  const [name = ''] = positionals;
  requireNames([...caseNames(casesFolder), ...Object.keys(programs), 'tables'], [name]);
  const seed = natural('seed', values.seed) ?? 1;
  return { name, options: { long: values.long ?? false, seed, count: natural('count', values.count) } };
}

function cells(row: Row): string[] {
  return [row.name, row.unit, showValue(row.value), row.goal, row.met ? 'met' : 'MISSED', row.note];
}

async function runCase(name: string, options: Options): Promise<boolean> {
  const run = await importRun<Run>(casesFolder, name);
  const started = performance.now();
  const rows = await run(options);
  const took = performance.now() - started;
  printTable([['figure', 'unit', 'value', 'goal', '', 'note'], ...rows.map(cells)]);
  console.log(`${name}: ${(took / 1000).toFixed(1)} s, seed ${options.seed}`);
  const { long, seed } = options;
  // Only figures of the long form are kept.
  if (long) writeResult(resultsFolder, name, { seed, seconds: Math.round(took / 1000), rows });
  return rows.length > 0 && rows.every(({ met }) => met);
}

await runScript(async () => {
  const [first = '', ...rest] = process.argv.slice(2);
  const program = programs[first];
  if (program !== undefined) {
    const [command, ...args] = program;
    process.exitCode = spawnSync(command, [...args, ...rest], { stdio: 'inherit' }).status ?? 1;
    return;
  }
  const { name, options } = parse();
  if (name === 'tables') writePage();
  else if (!(await runCase(name, options))) process.exitCode = 1;
});
// Open handles of a failed case must not keep the process alive.
if (process.exitCode === 1) process.exit();
