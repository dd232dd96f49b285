/** Coverage-guided fuzzing: of decoding, features and measures under sanitizers, of the reader of forms in JavaScript. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { caught, exactly, type Options, type Row, told } from '../case.ts';
import { forgetful, fuzzForms } from '../fuzz/forms.ts';
import { type Amount, type Fuzzed, fuzz, targets } from '../fuzz/fuzzer.ts';
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

function amountOf({ long, seed, count }: Options): Amount {
  const seconds = long ? 60 * (count ?? longMinutes) : (count ?? shortSeconds);
  // A seed for each long run: the same one again would try the same mutations. libFuzzer takes one of 32 bits.
  return { seconds, runs: -1, seed: long ? Date.now() % 2 ** 32 : seed };
}

function noteRun(name: string, run: Fuzzed, folder: string, long: boolean): Tried {
  console.error(`${name}: ${run.executions} runs, ${run.finding ?? 'nothing found'}`);
  return { name, run, all: long ? add(folder, run) : run, files: readdirSync(join(folder, 'corpus')).length };
}

/** The last in this process: the reader of forms is JavaScript. */
async function tryAll(programs: string, parent: string, options: Options): Promise<Tried[]> {
  const amount = amountOf(options);
  const tried = await inParallel(targets, atOnce, async (target) => {
    const folder = join(parent, target.name);
    return noteRun(target.name, await fuzz(programs, target, folder, amount), folder, options.long);
  });
  const forms = join(parent, 'multipart');
  return [...tried, noteRun('multipart', fuzzForms(forms, amount), forms, options.long)];
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
    'multipart/reader.ts',
    'multipart/headers.ts',
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
    const tried = await tryAll(programs, options.long ? cacheFolder('fuzz') : scratch, options);
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
