/** Coverage-guided fuzzing of decoding, features and measures under sanitizers; random forms for the multipart reader. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { exactly, informational, negativeControl, none, type Options, type Row } from '../case.ts';
import { type Amount, type Fuzzed, fuzz, targets } from '../fuzz/fuzzer.ts';
import { buildChecked } from '../support/native.ts';
import { inParallel } from '../support/parallel.ts';
import { execute } from '../support/program.ts';

const shortSeconds = 5;
const longMinutes = 10;
const atOnce = 2;
const shortForms = 5000;
const longForms = 500_000;
/** The planted fault is found within some thousand runs. */
const controlRuns = 1_000_000;
const controlSeconds = 120;

function amountOf({ long, seed, count }: Options): Amount {
  const seconds = long ? 60 * (count ?? longMinutes) : (count ?? shortSeconds);
  // A new seed for each long run, since the same seed repeats its mutations; libFuzzer takes 32 bits.
  return { seconds, runs: -1, seed: long ? Date.now() % 2 ** 32 : seed };
}

async function runAll(programs: string, parent: string, options: Options): Promise<Row[]> {
  const amount = amountOf(options);
  const found: Fuzzed[] = [];
  const rows = await inParallel(targets, atOnce, async (target) => {
    const folder = join(parent, target.name);
    const run = await fuzz(programs, target, folder, amount);
    console.error(`${target.name}: ${run.executions} runs, ${run.finding ?? 'nothing found'}`);
    found.push(run);
    const files = readdirSync(join(folder, 'corpus')).length;
    const note = `${run.edges} edges, ${files} files kept, ${(run.seconds / 60).toFixed(1)} minutes`;
    return informational(target.name, 'executions', run.executions, note);
  });
  const total = found.reduce((sum, { executions }) => sum + executions, 0);
  return [...rows, informational('all targets', 'executions', total), findings(found)];
}

/** The properties of the multipart reader, with more random forms than `npm test` has. */
function checkForms(long: boolean): Row {
  const forms = long ? longForms : shortForms;
  const env = { ...process.env, MUTATIONS: String(forms) };
  const files = ['test/multipart/reader.test.ts', 'test/multipart/oracle.test.ts'];
  const { status, output } = execute('npx', ['ava', ...files], { env });
  const failed = output.match(/^ +✘ .*$/gm) ?? (status === 0 ? [] : [output.slice(-400)]);
  return none('multipart: properties that fail', failed, `${forms} forms each`);
}

function findings(runs: readonly Fuzzed[]): Row {
  const found = runs.flatMap(({ finding }) => (finding === null ? [] : [finding]));
  return exactly(0, 'findings', 'inputs', found.length, found.join('; '));
}

async function checkDecoderFault(programs: string, folder: string, seed: number): Promise<Row> {
  const target = { name: 'aiff', program: 'planted' } as const;
  const amount = { seconds: controlSeconds, runs: controlRuns, seed };
  const run = await fuzz(programs, target, join(folder, 'planted'), amount);
  return negativeControl('a read past the end of a table', [
    findings([{ ...run, finding: shorten(run.finding) }]),
  ]);
}

/** Without the path, which is another one on each machine. */
function shorten(finding: string | null): string | null {
  return finding?.replace(/ \(.*$/, '') ?? null;
}

export async function run(options: Options): Promise<readonly Row[]> {
  const programs = buildChecked(['decode', 'extract', 'measure', 'planted'].map((name) => `fuzz_${name}`));
  const scratch = mkdtempSync(join(tmpdir(), 'undertone-fuzz-'));
  try {
    return [
      ...(await runAll(programs, options.long ? cacheFolder('fuzz') : scratch, options)),
      await checkDecoderFault(programs, scratch, options.seed),
      checkForms(options.long),
    ];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
