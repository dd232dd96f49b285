/** The native tests under every sanitizer, and the tests of the addon inside Node. */

import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, runProgram } from '../../../benchmarks/case.ts';
import { buildNative } from '../../../benchmarks/packages.ts';
import { fixturesFolder } from '../../../scripts/recordings.ts';
import { type Outcome, parseDoctest, parseTap } from '../../../scripts/results.ts';
import { exactly, negativeControl, type Options, type Row } from '../case.ts';
import { buildChecked, buildThreads, execute } from '../support/program.ts';

const shortMutations = 3;
const longMutations = 100;

export async function run({ long, count }: Options): Promise<readonly Row[]> {
  const mutations = count ?? (long ? longMutations : shortMutations);
  const targets = ['undertone_tests', 'undertone_planted'];
  const folder = buildChecked(targets);
  const rows = [
    ...runNativeTests(folder, 'address,undefined', mutations),
    checkInjectedFault(folder, 'address'),
    checkInjectedFault(folder, 'undefined'),
  ];
  if (!long) return rows;
  const threads = buildThreads(targets);
  return [
    ...rows,
    ...runNativeTests(threads, 'thread', shortMutations),
    checkInjectedFault(threads, 'thread'),
    ...runNodeTests(),
    checkInjectedFaultInNode(),
  ];
}

// The native tests under a sanitizer, and injected faults that it must report.

/** First line of a report. */
const report = /^.*(ERROR: \w+Sanitizer|WARNING: \w+Sanitizer|runtime error).*$/gm;

function reports({ output }: Outcome): Row {
  const found = output.match(report) ?? [];
  return exactly(0, 'reports', 'faults', found.length, found[0]?.trim() ?? '');
}

/** The tests of a build, damaged recordings among them: `mutations` of each. */
function runNativeTests(folder: string, sanitizer: string, mutations: number): Row[] {
  console.error(`native tests under ${sanitizer}`);
  const env = { ...process.env, UNDERTONE_MUTATIONS: String(mutations) };
  const ended = execute(join(folder, 'undertone_tests'), ['--no-colors=true'], { env });
  const { passed, failed } = parseDoctest(sanitizer, ended);
  const missed = new Set(ended.output.match(/^TEST CASE: .*$/gm));
  const note = [`${passed} passed`, ...missed].join('; ');
  const tests = exactly(0, `${sanitizer}: native tests`, 'failed', failed, note);
  return [tests, { ...reports(ended), name: `${sanitizer}: reports` }];
}

function checkInjectedFault(folder: string, fault: string): Row {
  return negativeControl(fault, [reports(execute(join(folder, 'undertone_planted'), [fault]))]);
}

// Tests of the addon's callers, in Node, with an addon built under AddressSanitizer and UndefinedBehaviorSanitizer.

const files = ['test/audio/*.test.ts', 'test/analysis/analyze.test.ts', 'test/runtime/random-calls.test.ts'];
const randomCalls = 100_000;
const copied = [
  ...['benchmarks', 'clients', 'deploy', 'scripts', 'src', 'test', 'web'],
  ...['ava.config.mjs', 'package.json', 'rolldown.config.mjs', 'tsconfig.json'],
];
const linked = ['node_modules', 'models', 'examples', 'docs'];

/** Node is not instrumented: the library of the sanitizer must be there before it, and its own leaks do not count. */
function environment(): NodeJS.ProcessEnv {
  const library = (name: string) => runProgram('g++', [`-print-file-name=${name}`]).trim();
  const preload = ['libasan.so', 'libubsan.so', 'libstdc++.so'].map(library).join(':');
  return {
    ...process.env,
    LD_PRELOAD: preload,
    ASAN_OPTIONS: 'detect_leaks=0',
    UNDERTONE_RANDOM_CALLS: `${randomCalls}`,
  };
}

/** The tree around other addons. */
function makeTree(addons: string): string {
  const tree = mkdtempSync(join(tmpdir(), 'undertone-sanitized-'));
  for (const name of copied) cpSync(join(root, name), join(tree, name), { recursive: true });
  for (const name of linked) symlinkSync(join(root, name), join(tree, name));
  cpSync(addons, join(tree, 'build', 'Release'), { recursive: true });
  symlinkSync(fixturesFolder(), join(tree, 'build', 'recordings'));
  return tree;
}

/** Returns their folder. */
function buildAddons(): string {
  console.error('building the addons in build/sanitized-addon');
  const out = join('build', 'sanitized-addon');
  const settings = ['--CDSANITIZE=address,undefined'];
  runProgram(join(root, 'node_modules', '.bin', 'cmake-js'), ['compile', '--out', out, ...settings]);
  return join(root, out, 'Release');
}

function runNodeTests(): Row[] {
  const tree = makeTree(buildAddons());
  console.error('tests in Node under address,undefined');
  try {
    const ava = join('node_modules', 'ava', 'entrypoints', 'cli.mjs');
    const args = [ava, '--tap', '--serial', '--timeout=10m', ...files];
    const ended = execute(process.execPath, args, { cwd: tree, env: environment() });
    const { passed, failed } = parseTap('node', ended);
    const missed = ended.output.match(/^not ok .*$/gm) ?? [];
    const note = [`${passed} passed`, ...missed].join('; ');
    const tests = exactly(0, 'address,undefined: tests in Node', 'failed', failed, note);
    return [tests, { ...reports(ended), name: 'address,undefined: reports in Node' }];
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** A library with a fault, loaded as the addon is. */
function checkInjectedFaultInNode(): Row {
  const settings = { SANITIZE: 'address,undefined', UNDERTONE_TESTS: 'ON' };
  const folder = buildNative('sanitized-library', settings, ['undertone_planted_library']);
  const library = join(folder, 'libundertone_planted_library.so');
  const script = `process.dlopen({ exports: {} }, ${JSON.stringify(library)})`;
  return negativeControl('address, in Node', [
    reports(execute(process.execPath, ['-e', script], { env: environment() })),
  ]);
}
