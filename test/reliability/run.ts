/** npm run test:CASE -- [--long] [--seed N] [--count N]: runs a case, prints its figures, fails when a goal is missed. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { root } from '../../benchmarks/case.ts';
import { provenance } from '../../benchmarks/provenance.ts';
import { printTable } from '../../benchmarks/text-table.ts';
import type { Options, Row, Run } from './case.ts';
import { showValue, writePage } from './page.ts';

const here = fileURLToPath(import.meta.url);
const casesFolder = join(dirname(here), 'cases');

function caseNames(): string[] {
  const files = readdirSync(casesFolder).filter((file) => extname(file) === extname(here));
  return files.map((file) => file.slice(0, -extname(file).length)).sort();
}

function natural(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new TypeError(`Expected a whole number for \`${name}\`, got "${text}"`);
}

function parse(): { name: string; options: Options } {
  const { values, positionals } = parseArgs({
    options: { long: { type: 'boolean' }, seed: { type: 'string' }, count: { type: 'string' } },
    allowPositionals: true,
  });
  const [name = ''] = positionals;
  const names = [...caseNames(), 'tables'];
  if (!names.includes(name))
    throw new TypeError(`Expected one of ${names.join(', ')} for \`case\`, got "${name}"`);
  const seed = natural('seed', values.seed) ?? 1;
  return { name, options: { long: values.long ?? false, seed, count: natural('count', values.count) } };
}

function cells(row: Row): string[] {
  return [row.name, row.unit, showValue(row.value), row.goal, row.met ? 'met' : 'MISSED', row.note];
}

/** Only figures of the long form are kept. */
function keep(name: string, rows: readonly Row[], took: number, { seed }: Options): void {
  const folder = join(root, 'test', 'reliability', 'results');
  mkdirSync(folder, { recursive: true });
  const result = { case: name, ...provenance(), seed, seconds: Math.round(took / 1000), rows };
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
}

async function runCase(name: string, options: Options): Promise<boolean> {
  const file = pathToFileURL(join(casesFolder, `${name}${extname(here)}`));
  const { run } = (await import(file.href)) as { run: Run };
  const started = performance.now();
  const rows = await run(options);
  const took = performance.now() - started;
  printTable([['figure', 'unit', 'value', 'goal', '', 'note'], ...rows.map(cells)]);
  console.log(`${name}: ${(took / 1000).toFixed(1)} s, seed ${options.seed}`);
  if (options.long) keep(name, rows, took, options);
  return rows.length > 0 && rows.every(({ met }) => met);
}

try {
  const { name, options } = parse();
  if (name === 'tables') writePage();
  else process.exitCode = (await runCase(name, options)) ? 0 : 1;
} catch (error) {
  // A failed fetch is a TypeError with a cause, not a wrong argument.
  const wrong = error instanceof TypeError && error.cause === undefined;
  console.error(wrong ? error.message : error);
  // Open handles of a failed case must not keep the process alive.
  process.exit(wrong ? 2 : 1);
}
