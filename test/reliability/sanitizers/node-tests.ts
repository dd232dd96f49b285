/** Tests of the addon's callers, in Node, with an addon built under AddressSanitizer and UndefinedBehaviorSanitizer. */
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, runProgram } from '../../../benchmarks/case.ts';
import { buildNative } from '../../../benchmarks/native.ts';
import { fixturesFolder } from '../../../scripts/recordings.ts';
import { parseTap } from '../../../scripts/results.ts';
import { exactly, negativeControl, type Row } from '../case.ts';
import { execute } from '../support/program.ts';
import { reports } from './native-tests.ts';

const files = ['test/audio/*.test.ts', 'test/analysis/analyze.test.ts'];
const copied = ['benchmarks', 'scripts', 'src', 'test', 'package.json', 'tsconfig.json'];
const linked = ['node_modules', 'models', 'examples', 'docs'];

/** Node is not instrumented: the library of the sanitizer must be there before it, and its own leaks do not count. */
function environment(): NodeJS.ProcessEnv {
  const library = (name: string) => runProgram('g++', [`-print-file-name=${name}`]).trim();
  const preload = ['libasan.so', 'libubsan.so', 'libstdc++.so'].map(library).join(':');
  return { ...process.env, LD_PRELOAD: preload, ASAN_OPTIONS: 'detect_leaks=0' };
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

export function runNodeTests(): Row[] {
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
export function checkInjectedFaultInNode(): Row {
  const settings = { SANITIZE: 'address,undefined', UNDERTONE_TESTS: 'ON' };
  const folder = buildNative('sanitized-library', settings, ['undertone_planted_library']);
  const library = join(folder, 'libundertone_planted_library.so');
  const script = `process.dlopen({ exports: {} }, ${JSON.stringify(library)})`;
  return negativeControl('address, in Node', [
    reports(execute(process.execPath, ['-e', script], { env: environment() })),
  ]);
}
