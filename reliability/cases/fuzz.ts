/** Coverage-guided fuzzing: of decoding, features and measures under sanitizers, of the reader of forms in JavaScript. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../../benchmarks/case.ts';
import { caught, exactly, type Options, type Row, told } from '../case.ts';
import { forgetful, fuzzForms } from '../fuzz/forms.ts';
import { type Amount, type Fuzzed, fuzz, type Target, targets } from '../fuzz/fuzzer.ts';
import { add, type Fuzzing } from '../fuzz/record.ts';
import { buildChecked } from '../native.ts';
import { inParallel } from '../parallel.ts';

const shortSeconds = 5;
const longMinutes = 10;
const atOnce = 2;
/** The planted fault is found within some thousand runs. */
const plantedRuns = 1_000_000;
const plantedSeconds = 120;

type Tried = { readonly name: string; readonly run: Fuzzed; readonly all: Fuzzing; readonly files: number };

async function tryTarget(
  programs: string,
  target: Target,
  folder: string,
  options: { readonly long: boolean; readonly amount: Amount },
): Promise<Tried> {
  const run = await fuzz(programs, target, folder, options.amount);
  console.error(`${target.name}: ${run.executions} runs, ${run.finding ?? 'nothing found'}`);
  const all = options.long ? add(folder, run) : run;
  return { name: target.name, run, all, files: readdirSync(join(folder, 'corpus')).length };
}

/** In this process: the reader of forms is JavaScript. */
function tryForms(folder: string, { long, seed, count }: Options): Tried {
  const seconds = long ? 60 * (count ?? longMinutes) : (count ?? shortSeconds);
  const run = fuzzForms(folder, { seconds, runs: -1, seed: long ? Date.now() : seed });
  const files = readdirSync(join(folder, 'corpus')).length;
  return { name: 'multipart', run, all: long ? add(folder, run) : run, files };
}

function tryAll(programs: string, folder: string, options: Options): Promise<Tried[]> {
  const seconds = options.long ? 60 * (options.count ?? longMinutes) : (options.count ?? shortSeconds);
  // A seed for each long run: the same one again would try the same mutations.
  const seed = options.long ? 0 : options.seed;
  const amount = { seconds, runs: -1, seed };
  return inParallel(targets, atOnce, (target) =>
    tryTarget(programs, target, join(folder, target.name), { long: options.long, amount }),
  );
}

function describe({ name, all, files }: Tried): Row {
  const note = `${all.edges} edges, ${files} files kept, ${(all.seconds / 60).toFixed(1)} minutes`;
  return told({ name, unit: 'executions', value: all.executions, note });
}

function findings(runs: readonly Fuzzed[]): Row {
  const found = runs.flatMap(({ finding }) => (finding === null ? [] : [finding]));
  return exactly(0, { name: 'findings', unit: 'inputs', value: found.length, note: found.join('; ') });
}

async function findPlanted(programs: string, folder: string, seed: number): Promise<Row> {
  const target = { name: 'aiff', program: 'planted' } as const;
  const amount = { seconds: plantedSeconds, runs: plantedRuns, seed };
  const run = await fuzz(programs, target, join(folder, 'planted'), amount);
  return caught('a read past the end of a table', [findings([{ ...run, finding: shorten(run.finding) }])]);
}

function forgetPart(folder: string, seed: number): Row {
  const amount = { seconds: plantedSeconds, runs: plantedRuns, seed };
  const run = fuzzForms(join(folder, 'forgetful'), amount, forgetful, [
    'fuzz/forms.ts',
    'workers/multipart.ts',
  ]);
  return caught('a reader of forms that fails at one of its parts', [findings([run])]);
}

/** Without the path, which is another one on each machine. */
function shorten(finding: string | null): string | null {
  return finding?.replace(/ \(.*$/, '') ?? null;
}

export async function run(options: Options): Promise<readonly Row[]> {
  const programs = buildChecked(['decode', 'extract', 'measure', 'planted'].map((name) => `fuzz_${name}`));
  const scratch = mkdtempSync(join(tmpdir(), 'undertone-fuzz-'));
  try {
    const folder = options.long ? cacheFolder('fuzz') : scratch;
    const tried = [
      ...(await tryAll(programs, folder, options)),
      tryForms(join(folder, 'multipart'), options),
    ];
    const total = tried.reduce((sum, { all }) => sum + all.executions, 0);
    return [
      ...tried.map(describe),
      told({ name: 'all targets', unit: 'executions', value: total }),
      findings(tried.map((one) => one.run)),
      await findPlanted(programs, scratch, options.seed),
      forgetPart(scratch, options.seed),
    ];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
