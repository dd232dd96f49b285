/** Cases of a folder, and their results with the commit and the machine that they were measured on. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runProgram } from './case.ts';

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
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
}

/** Sorted by name. */
export function readResults<Result>(folder: string): Result[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Result);
}
