/** Runs one libFuzzer program. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../benchmarks/case.ts';

export type Target = {
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
export const targets: readonly Target[] = [
  ...families.map((name) => ({ name, program: 'decode' }) as const),
  { name: 'extract', program: 'extract' },
  { name: 'measure', program: 'measure' },
];

export type Fuzzed = {
  readonly executions: number;
  readonly seconds: number;
  /** Edges of the project's code; libraries are not instrumented. */
  readonly edges: number;
  /** Error and input file; null without a finding. */
  readonly finding: string | null;
};

export type Amount = { readonly seconds: number; readonly runs: number; readonly seed: number };

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
export function fuzz(programs: string, target: Target, folder: string, amount: Amount): Promise<Fuzzed> {
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
