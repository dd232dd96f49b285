/** Tools of the repository: mutations, results of tests, the bill of materials, profiles, slopes of memory; subjects of commits. */

import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { readFileSync } from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import test from 'ava';
import { type CpuProfile, flameGraph, mergeProfiles, selfTimes } from '../benchmarks/profile.ts';
import { parseDoctest, parseTap } from '../scripts/results.ts';
import { version } from '../src/node/paths.ts';
import { lowest, type Point, robustSlope } from './reliability/support/footprint.ts';
import { createPrng } from './reliability/support/prng.ts';
import { mutantsOf } from './support/mutants.ts';

test('a file has mutants of its code, not of its comments, texts and types', (t) => {
  const source = '// 1 < 2\ntype Bit = 0 | 1;\nreturn a < b + 3 && name === "4 < 5";\nif (full) stop();\n';
  const mutants = mutantsOf('a.ts', source);
  t.deepEqual(
    mutants.map(({ line, before, after }) => `${line}: ${before} -> ${after}`),
    ['3: < -> <=', '3: === -> !==', '3: + -> -', '3: && -> ||', '3: 3 -> (3 + 1)', '4:  -> !'],
  );
  t.is(mutants[1]?.text, source.replace('===', '!=='));
});

const counts = (passed: number, failed: number, skipped: number, name = 'x') => ({
  name,
  passed,
  failed,
  skipped,
});

test('a runner that ran no test has failed', (t) => {
  t.deepEqual(parseTap('x', { status: 0, output: 'TAP version 13\n1..0\n' }), counts(0, 1, 0));
  t.deepEqual(parseTap('x', { status: 0, output: 'ok 1 - a # SKIP\n' }), counts(0, 1, 1));
  t.deepEqual(parseDoctest('x', { status: 0, output: '' }), counts(0, 1, 0));
});

test('an exit status that contradicts the counts is a failure', (t) => {
  t.deepEqual(parseTap('x', { status: null, output: 'ok 1 - a\n' }), counts(1, 1, 0));
  t.deepEqual(parseTap('x', { status: 1, output: 'ok 1 - a\nnot ok 2 - b\n' }), counts(1, 1, 0));
});

test('doctest results are read from its closing line', (t) => {
  const output =
    '[doctest] test cases:  12 |  10 passed | 2 failed | 3 skipped\n[doctest] assertions: 99 | 0 passed |\n';
  t.deepEqual(parseDoctest('x', { status: 1, output }), counts(10, 2, 3));
});

test("ava's own output for a planted failure is counted", (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'undertone-'));
  t.teardown(() => fs.rmSync(folder, { recursive: true }));
  fs.symlinkSync(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  fs.writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
  const source = [
    "import test from 'ava';",
    "test('holds', (t) => t.pass());",
    "test('planted', (t) => t.fail());",
    "test.skip('later', (t) => t.pass());",
  ];
  fs.writeFileSync(path.join(folder, 'test.js'), source.join('\n'));
  const ava = path.resolve('node_modules/ava/entrypoints/cli.mjs');
  const run = spawnSync(process.execPath, [ava, '--tap'], { cwd: folder, encoding: 'utf8' });
  t.deepEqual(
    parseTap('x', { status: run.status, output: run.stdout }),
    counts(1, 1, 1),
    run.stdout + run.stderr,
  );
});

// The bill of materials: whole, and of what runs alone.

type Locked = { readonly version: string; readonly dev?: true; readonly devOptional?: true };
type Dependency = { readonly ref: string; readonly dependsOn: readonly string[] };
type Component = {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly 'bom-ref': string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
};

const run = () =>
  execFileSync('npm', ['run', '--silent', 'sbom'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
const bom = JSON.parse(run());
const listed: readonly Component[] = bom.components;
/** Its sources are in native/third_party. */
const isVendored = ({ name }: Component) => name === 'kissfft';
const components = listed.filter((component) => !isVendored(component));
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));

test('it is CycloneDX, and every reference in it leads somewhere', (t) => {
  t.is(bom.$schema, 'http://cyclonedx.org/schema/bom-1.5.schema.json');
  t.like(bom, { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 });
  t.regex(bom.serialNumber, /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  const { component } = bom.metadata;
  t.like(component, { type: 'application', name: 'undertone', purl: `pkg:npm/undertone@${version}` });
  const references = [component, ...listed].map((one) => one['bom-ref']);
  t.is(new Set(references).size, references.length);
  for (const { ref, dependsOn } of bom.dependencies) {
    for (const name of [ref, ...dependsOn]) t.true(references.includes(name), name);
  }
  for (const { purl, hashes = [] } of components) {
    t.regex(purl, /^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d/);
    for (const { alg, content } of hashes) t.true(alg === 'SHA-512' && /^[0-9a-f]{128}$/.test(content), purl);
  }
});

test('it names every package that is installed without those for development, and no other', (t) => {
  const locked = Object.entries(lock.packages as Readonly<Record<string, Locked>>)
    .filter(([path, { dev }]) => path !== '' && dev === undefined)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`);
  t.deepEqual(
    [...new Set(components.map(({ name, version }) => `${name}@${version}`))].sort(),
    [...new Set(locked)].sort(),
  );
  for (const name of Object.keys(lock.packages[''].dependencies))
    t.true(
      locked.some((one) => one.startsWith(`${name}@`)),
      name,
    );
});

test('every package is a dependency of the project or of another', (t) => {
  const dependencies = new Map<string, readonly string[]>(
    bom.dependencies.map(({ ref, dependsOn }: Dependency) => [ref, dependsOn]),
  );
  const reached = new Set<string>([bom.metadata.component['bom-ref']]);
  for (const ref of reached) for (const other of dependencies.get(ref) ?? []) reached.add(other);
  t.deepEqual(
    components.map((component) => component['bom-ref']).filter((ref) => !reached.has(ref)),
    [],
  );
});

test('it names kissfft with the version that its folder states', (t) => {
  const readme = readFileSync('native/third_party/kissfft/README.md', 'utf8');
  const version = /^# kissfft (\S+)$/m.exec(readme)?.[1];
  t.deepEqual(
    listed.filter(isVendored).map((component) => component.version),
    [version],
  );
});

const node = (id: number, functionName: string, children: readonly number[] = [], url = '') => ({
  id,
  callFrame: { functionName, url },
  children,
});

const profile: CpuProfile = {
  nodes: [
    node(1, '(root)', [2, 3, 5]),
    node(2, '(idle)'),
    node(3, 'handle', [4]),
    node(4, '', [], 'file:///srv/decode<1>.js'),
    node(5, 'collect'),
  ],
  startTime: 1000,
  samples: [3, 2, 4, 4, 5],
  timeDeltas: [100, 1000, 200, 300, 50],
};

const threads = [
  ['main', profile],
  ['worker', { ...profile, samples: [5], timeDeltas: [5000] }],
] as const;

const flat = (frame: ReturnType<typeof mergeProfiles>, depth = 0): string[] => [
  `${' '.repeat(depth)}${frame.name} ${frame.micros}`,
  ...[...frame.callees.values()].flatMap((callee) => flat(callee, depth + 1)),
];

test('waiting and samples before the start do not count, and threads stand side by side', (t) => {
  const merged = mergeProfiles(threads, 1200);
  t.deepEqual(flat(merged), [
    'all threads 5550',
    ' main 550',
    '  handle 500',
    '   decode<1>.js 500',
    '  collect 50',
    ' worker 5000',
    '  collect 5000',
  ]);
});

test('the picture has a box for each function, as wide as its time', (t) => {
  const svg = flameGraph(mergeProfiles([['main', profile]], 0), 'a <title>');
  t.regex(svg, /a &lt;title&gt;/);
  t.regex(svg, /<title>decode&lt;1&gt;\.js: 0\.5 ms, 76\.9 %<\/title><rect x="0\.0" y="72" width="922\.8"/);
  t.regex(svg, /<title>collect: 0\.1 ms, 7\.7 %<\/title><rect x="1107\.7" y="54" width="92\.0"/);
});

test('the time of a function is without that of its callees, over all threads', (t) => {
  const merged = mergeProfiles(threads, 1000);
  t.deepEqual(selfTimes(merged), [
    ['collect', 5050],
    ['decode<1>.js', 500],
    ['handle', 100],
  ]);
});

/** Memory that gains `leak` a step, with garbage that comes and goes, and a few points far off. */
function memory(leak: number): Point[] {
  const prng = createPrng(1);
  return Array.from({ length: 400 }, (_, x) => ({
    x,
    y: 200 + leak * x + (x % 25) + (prng.below(40) === 0 ? 500 : 0),
  }));
}

test('a leak is seen through garbage and outliers, and none where there is none', (t) => {
  for (const leak of [0, 0.01, 0.5]) {
    const slope = robustSlope(lowest(memory(leak), 12));
    t.true(slope !== null && Math.abs(slope - leak) < 0.005, `${slope} for ${leak}`);
  }
});

test('one point has no slope', (t) => {
  t.is(robustSlope([{ x: 1, y: 1 }]), null);
});

const isSubject = (text: string): boolean => text.length <= 72 && /^[a-z][a-z0-9/-]*: \S.*[^\s.]$/.test(text);

test('the subject of a commit has a scope, at most 72 characters and no full stop', (t) => {
  t.true(isSubject('jobs: count callbacks of cancelled jobs'));
  for (const text of [
    'Count callbacks',
    'Jobs: count',
    'jobs:count',
    'jobs: count.',
    `jobs: ${'a'.repeat(67)}`,
  ])
    t.false(isSubject(text), text);
});

test('the commits since the rule follow it', (t) => {
  // By date: a shallow clone lacks the first of them, and a copy without .git has none.
  const range = ['log', '--no-merges', '--since=2026-11-28T20:00:00Z', '--format=%s'];
  const { status, stdout } = spawnSync('git', range, { encoding: 'utf8' });
  const subjects = status === 0 ? stdout.split('\n').filter((line) => line !== '') : [];
  t.deepEqual(
    subjects.filter((subject) => !isSubject(subject)),
    [],
  );
});

test('the commits that results name are in the history', (t) => {
  const git = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8' });
  const { stdout } = git('rev-parse', '--is-shallow-repository');
  if (stdout.trim() !== 'false') return t.pass('a shallow clone, or a copy without .git');
  const pages = fs.readdirSync('docs/results').map((name) => readFileSync(`docs/results/${name}`, 'utf8'));
  const named = pages.flatMap((text) =>
    [...text.matchAll(/\bcommit ([0-9a-f]{7,40})\b/g)].map((at) => at[1] ?? ''),
  );
  t.true(named.length > 0);
  const lost = [...new Set(named)].filter(
    (id) => git('merge-base', '--is-ancestor', id, 'HEAD').status !== 0,
  );
  t.deepEqual(lost, []);
});
