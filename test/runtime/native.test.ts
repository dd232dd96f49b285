/** Errors of native code that does not load, and its memory. */
import { spawnSync } from 'node:child_process';
import test from 'ava';
import { addonFile } from '../../src/node/addon.ts';
import { describeFailure, loadedFile, loadNative } from '../../src/node/native.ts';

const host = { platform: 'linux-x64', glibc: '2.36', node: '22.1.0' };
const failures = [
  ['/opt/undertone.node', 'Cannot find module\nRequire stack: a.js'],
  ['@undertone/linux-x64', 'libav is missing'],
] as const;

test('the message names the platform and each failure', (t) => {
  const lines = describeFailure('the addon', failures, host).split('\n');
  t.deepEqual(lines.slice(0, 3), [
    'Expected the addon for linux-x64, glibc 2.36, Node.js 22.1.0, got none. Tried:',
    '- /opt/undertone.node: Cannot find module',
    '- @undertone/linux-x64: libav is missing',
  ]);
  t.regex(lines[3] ?? '', /without --omit=optional/);
});

test('the advice depends on the platform', (t) => {
  const advice = (changes: { readonly platform?: string; readonly glibc: null }) =>
    describeFailure('the addon', failures, { ...host, ...changes });
  t.regex(advice({ glibc: null }), /musl or another C library[\s\S]*image of Debian or Ubuntu/);
  const other = advice({ platform: 'darwin-arm64', glibc: null });
  t.regex(other, /for darwin-arm64, Node\.js[\s\S]*Packages exist for linux-x64 and linux-arm64/);
  t.notRegex(other, /musl/);
});

test('the first module that loads is returned', (t) => {
  t.is(loadNative('a module', ['/nowhere/a.node', 'node:path', 'node:fs']), process.getBuiltinModule('path'));
});

test('without any the error names each', (t) => {
  t.throws(() => loadNative('a module', ['/nowhere/a.node', '@undertone/none']), {
    message:
      /^Expected a module for [\s\S]*\/nowhere\/a\.node: Cannot find[\s\S]*@undertone\/none: Cannot find/,
  });
});

test('the loaded file is known', (t) => {
  t.regex(addonFile, /undertone\.node$/);
  t.is(loadedFile(['/nowhere/a.node', addonFile]), addonFile);
  t.is(loadedFile(['/nowhere/a.node']), undefined);
});

/** Blocks of 100 KB, all but the last of which are freed: that one keeps the pages below it. Prints MiB of the process. */
const fragmented = `
import { releaseFreeMemory } from './src/node/process.ts';
const print = () => { gc(); console.log(process.memoryUsage.rss() / 2 ** 20); };
let blocks = Array.from({ length: 1000 }, () => new Uint8Array(100_000).fill(1));
globalThis.kept = blocks.at(-1);
blocks = null;
print();
releaseFreeMemory();
print();
`;

test('free memory is given back to the system', (t) => {
  // Otherwise background threads free blocks after gc() has returned.
  const gc = ['--expose-gc', '--single-threaded-gc'];
  const options = ['--import=tsx', ...gc, '--input-type=module', '--eval', fragmented];
  const { stdout, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8' });
  const [held = 0, after = 0] = stdout.split('\n').map(Number);
  t.true(held - after > 60, `${stdout}${stderr}`);
});

/** Analyses uploads of 40 s while V8 collects nothing. Prints by how many MiB each changes the memory of array buffers. */
const uploads = `
import { boundary, multipart } from './benchmarks/upload-body.ts';
import { speechFile } from './benchmarks/speech.ts';
import { createAnalyzer } from './src/node/models.ts';
import { handleTask } from './src/service/workers/handle-task.ts';
import { limits } from './test/support/analysis.ts';
const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });
const form = multipart([{ name: 'audio', bytes: speechFile(40) }]);
const receipt = { keyId: 'key', purpose: null, always: false };
const task = { boundary, signals: ['emotion', 'cognitive'], requestId: 'id', receipt, cancel: new Int32Array(1) };
for (let at = 0; at < 3; at++) {
  const half = form.length >> 1;
  const body = [Uint8Array.from(form.subarray(0, half)), Uint8Array.from(form.subarray(half))];
  const before = process.memoryUsage().arrayBuffers;
  const { kind } = await handleTask(analyzer, { ...task, body });
  console.log(kind, (process.memoryUsage().arrayBuffers - before) / 2 ** 20);
}
`;

test('an analysis frees its arrays and its upload without the garbage collector', (t) => {
  const young = ['--min-semi-space-size=64', '--max-semi-space-size=128'];
  const options = ['--import=tsx', ...young, '--input-type=module', '--eval', uploads];
  const { stdout, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8' });
  const [kind, mebibytes] = stdout.trim().split('\n').at(-1)?.split(' ') ?? [];
  t.is(kind, 'report', stderr);
  t.true(Number(mebibytes) < 1, stdout);
});
