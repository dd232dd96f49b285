/** Coverage-guided fuzzing of decoding, features and measures under sanitizers; random forms for the multipart reader. */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder, root } from '../../../benchmarks/case.ts';
import { exactly, informational, negativeControl, none, type Options, type Row } from '../case.ts';
import { inParallel } from '../support/parallel.ts';
import { buildChecked, execute } from '../support/program.ts';

const shortSeconds = 5;
const longMinutes = 10;
const atOnce = 2;
const shortForms = 5000;
const longForms = 500_000;
/** The planted fault is found within some ten thousand runs, which take as long as the machine needs. */
const controlRuns = 1_000_000;
const unlimited = 0;

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
  const { status, output } = execute('npx', ['ava', 'test/multipart/reader.test.ts'], { env });
  const failed = output.match(/^ +✘ .*$/gm) ?? (status === 0 ? [] : [output.slice(-400)]);
  return none('multipart: properties that fail', failed, `${forms} forms each`);
}

function findings(runs: readonly Fuzzed[]): Row {
  const found = runs.flatMap(({ finding }) => (finding === null ? [] : [finding]));
  return exactly(0, 'findings', 'inputs', found.length, found.join('; '));
}

async function checkDecoderFault(programs: string, folder: string, seed: number): Promise<Row> {
  const target = { name: 'au', program: 'planted' } as const;
  const amount = { seconds: unlimited, runs: controlRuns, seed };
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

// Runs one libFuzzer program.

type Target = {
  /** A folder of test/fuzz/corpus. */
  readonly name: string;
  readonly program: 'decode' | 'extract' | 'measure' | 'planted';
};

const families = [
  'wav',
  'mp3',
  'mp4',
  'flac',
  'ogg',
  'webm',
  'adts',
  'aiff',
  'caf',
  'amr',
  'au',
  'w64',
] as const;
const targets: readonly Target[] = [
  ...families.map((name) => ({ name, program: 'decode' }) as const),
  { name: 'extract', program: 'extract' },
  { name: 'measure', program: 'measure' },
];

type Fuzzed = {
  readonly executions: number;
  readonly seconds: number;
  /** Edges of the project's code; libraries are not instrumented. */
  readonly edges: number;
  /** Error and input file; null without a finding. */
  readonly finding: string | null;
};

type Amount = { readonly seconds: number; readonly runs: number; readonly seed: number };

const sources = join(root, 'test', 'fuzz');
/** A hang ends after this long by the clock; slowness is counted in processor time by the program itself. */
const hangSeconds = 300;
const environment = {
  ...process.env,
  ASAN_OPTIONS: 'quarantine_size_mb=16:allocator_may_return_null=1:detect_leaks=1',
  UBSAN_OPTIONS: 'print_stacktrace=1',
};

function options({ name }: Target, folder: string, { seconds, runs, seed }: Amount): string[] {
  const dictionary = join(sources, 'dictionaries', `${name}.dict`);
  return [
    `-max_total_time=${seconds}`,
    `-runs=${runs}`,
    `-seed=${seed}`,
    `-timeout=${hangSeconds}`,
    '-max_len=16384',
    '-rss_limit_mb=2048',
    '-print_final_stats=1',
    `-artifact_prefix=${folder}/findings/`,
    ...(existsSync(dictionary) ? [`-dict=${dictionary}`] : []),
  ];
}

/** Writes new inputs to `folder`/corpus and findings to `folder`/findings. */
function fuzz(programs: string, target: Target, folder: string, amount: Amount): Promise<Fuzzed> {
  const kept = [join(folder, 'corpus'), join(folder, 'findings')];
  for (const one of kept) mkdirSync(one, { recursive: true });
  const program = join(programs, `fuzz_${target.program}`);
  const args = [
    ...options(target, folder, amount),
    join(folder, 'corpus'),
    join(sources, 'corpus', target.name),
  ];
  const from = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: environment });
    let log = '';
    child.stderr.on('data', (chunk) => {
      log += chunk;
    });
    child.on('error', reject);
    child.on('close', (status) => {
      const seconds = (performance.now() - from) / 1000;
      resolve({ ...readLog(log), seconds, finding: status === 0 ? null : readFinding(log) });
    });
  });
}

function readLog(log: string): Pick<Fuzzed, 'executions' | 'edges'> {
  const last = (pattern: RegExp) => Number([...log.matchAll(pattern)].at(-1)?.[1] ?? 0);
  return {
    executions: last(/^stat::number_of_executed_units:\s+(\d+)/gm) || last(/^#(\d+)/gm),
    edges: last(/ cov: (\d+) /g),
  };
}

function readFinding(log: string): string {
  const what = /^(SUMMARY: .*|Expected .*|.*runtime error: .*)$/m.exec(log)?.[1] ?? log.slice(-400);
  const file = /Test unit written to (\S+)/.exec(log)?.[1] ?? 'no file';
  return `${what} (${file})`;
}
