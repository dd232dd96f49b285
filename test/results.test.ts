import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import test from 'ava';
import { parseDoctest, parseTap } from '../scripts/results.ts';

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
