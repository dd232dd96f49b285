/**
 * Mutation testing: makes small faults in the code, one at a time, and runs the tests that reach it. A fault that no
 * test notices is a gap of the tests.
 *   npx tsx test/mutations.ts [--seed 7] [--count 40] [--native 20] [--list]
 *   npx tsx test/mutations.ts --map [FILE...]   records once which test files run which functions
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ExpectedError, requireFile, runScript } from '../scripts/run-script.ts';
import { createPrng, type Prng } from './reliability/support/prng.ts';
import { type CoverageMap, reachingTests, readCoverageMap, recordCoverage } from './support/coverage-map.ts';
import { describe, type Mutant, mutantsOf, nativeMutantsOf } from './support/mutators.ts';
import { makeScratchTree, type Run, type ScratchTree } from './support/scratch-tree.ts';

const options = {
  seed: { type: 'string', default: '7' },
  count: { type: 'string', default: '40' },
  native: { type: 'string', default: '20' },
  list: { type: 'boolean', default: false },
  map: { type: 'boolean', default: false },
} as const;

/** What noticed a mutant, or that nothing did. */
type Verdict = { readonly killed: boolean; readonly by: string };
type Judge = (mutant: Mutant) => Promise<Verdict>;

const killed = (by: string): Verdict => ({ killed: true, by });
const survived = (by: string): Verdict => ({ killed: false, by });

/** @param failed finds the name of the test that failed in the output */
function verdictOf({ status, output }: Run, tests: string, failed: RegExp): Verdict {
  if (status === 0) return survived(tests);
  return killed(status === null ? 'the time limit' : (failed.exec(output)?.[1] ?? 'a crash'));
}

const minLimitMs = 120_000;
/** Several times what the tests take without a mutant, which may end none of their waits. */
const patience = 5;
const nativeLimitMs = 600_000;
const nativeTests = 'build/mutations/undertone_tests';

const filesIn = (folder: string, pattern: RegExp): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .map((name) => `${folder}/${name}`)
    .sort();

function draw(prng: Prng, mutants: readonly Mutant[], count: number): Mutant[] {
  const left = [...mutants];
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const drawn = prng.pick(left);
    left.splice(left.indexOf(drawn), 1);
    return drawn;
  });
}

function drawSource(prng: Prng, count: number): Mutant[] {
  const files = filesIn('src', /\.ts$/);
  const mutants = files.flatMap((file) => mutantsOf(file, readFileSync(file, 'utf8')));
  return draw(prng, mutants, count);
}

function drawNative(prng: Prng, count: number): Mutant[] {
  const files = filesIn('native/core', /\.cc$/);
  const mutants = files.flatMap((file) => nativeMutantsOf(file, readFileSync(file, 'utf8')));
  return draw(prng, mutants, count);
}

const judgeSource =
  (tree: ScratchTree, map: CoverageMap): Judge =>
  async (mutant) => {
    const tests = reachingTests(map, mutant);
    if (tests.length === 0) return survived('no test reaches it');
    if (!(await tree.build())) return killed('the build');
    const usualMs = tests.reduce((sum, test) => sum + (map[test]?.ms ?? 0), 0);
    const run = await tree.test(tests, minLimitMs + patience * usualMs);
    return verdictOf(run, tests.join(', '), /^not ok \d+ - (.*)$/m);
  };

const judgeNative =
  (tree: ScratchTree): Judge =>
  async () => {
    if ((await buildNative(tree)) !== 0) return killed('the build');
    const run = await tree.run([nativeTests, '--no-colors=true', '--abort-after=1'], nativeLimitMs);
    return verdictOf(run, nativeTests, /^TEST CASE: +(.*)$/m);
  };

async function buildNative(tree: ScratchTree): Promise<number | null> {
  const settings = ['-DUNDERTONE_TESTS=ON', '-DCMAKE_BUILD_TYPE=Release'];
  const configured = await tree.run(
    ['cmake', '-S', '.', '-B', 'build/mutations', ...settings],
    nativeLimitMs,
  );
  if (configured.status !== 0) return configured.status;
  const target = ['--parallel', '2', '--target', 'undertone_tests'];
  return (await tree.run(['cmake', '--build', 'build/mutations', ...target], nativeLimitMs)).status;
}

/** Tries each mutant in the scratch tree. @returns the survivors */
async function tryAll(tree: ScratchTree, mutants: readonly Mutant[], judge: Judge): Promise<Mutant[]> {
  const survivors: Mutant[] = [];
  for (const mutant of mutants) {
    tree.write(mutant.file, mutant.text);
    const verdict = await judge(mutant);
    tree.write(mutant.file, null);
    console.log(`${describe(mutant)}: ${verdict.killed ? 'killed by' : 'survived:'} ${verdict.by}`);
    if (!verdict.killed) survivors.push(mutant);
  }
  return survivors;
}

function numberOf(name: 'seed' | 'count' | 'native', value: string): number {
  if (!/^\d+$/.test(value)) throw new ExpectedError(`Expected a whole number for --${name}, got ${value}`);
  return Number(value);
}

await runScript(async () => {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const tests = positionals.length > 0 ? positionals : filesIn('test', /^(?!web\/).*\.test\.ts$/);
  if (!values.map && positionals.length > 0)
    throw new ExpectedError(`Expected test files after --map alone, got ${positionals.join(' ')}`);
  const prng = createPrng(numberOf('seed', values.seed));
  const source = drawSource(prng, numberOf('count', values.count));
  const native = drawNative(prng, numberOf('native', values.native));
  const all = [...source, ...native];
  if (values.list) {
    for (const mutant of all) console.log(describe(mutant));
    return;
  }
  requireFile('dist/src/cli.js', 'run `npm run setup`');
  const tree = makeScratchTree();
  if (!(await tree.build())) throw new ExpectedError('Expected a tree that builds');
  if (values.map) return recordCoverage(tree, tests);
  const map = readCoverageMap();
  if (source.length > 0 && Object.keys(map).length === 0)
    throw new ExpectedError('Expected a map of coverage: pass --map first');
  const survivors = [
    ...(await tryAll(tree, source, judgeSource(tree, map))),
    ...(await tryAll(tree, native, judgeNative(tree))),
  ];
  console.log(`${all.length - survivors.length} of ${all.length} mutants killed`);
  for (const survivor of survivors) console.log(`survived: ${describe(survivor)}`);
});
