/** ONNX Runtime's npm build would keep an identifier in the home folder and tell its maker of every session. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'ava';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';

const sample = resolve('examples/sample.wav');

/** Neither set to silence it, nor taken for a machine that runs tests. */
function homeOf(home: string): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: home, ORT_DISABLE_TELEMETRY: '0', CI: '' };
}

test('the command leaves nothing in the home folder', async (t) => {
  const home = makeFolder();
  const { code } = await runCli(['analyze', sample, '--jsonl'], { env: homeOf(home) });
  t.is(code, 0);
  t.deepEqual(readdirSync(home), []);
});

test('a program that uses the package leaves nothing there, from a thread either', (t) => {
  const home = makeFolder();
  const analysis = `import('undertone').then(({ analyze }) => analyze(require('fs').readFileSync('${sample}')))`;
  const thread = `new (require('worker_threads').Worker)(${JSON.stringify(analysis)}, { eval: true })`;
  for (const program of [analysis, thread]) {
    execFileSync(process.execPath, ['-e', program], { env: homeOf(home), stdio: 'pipe' });
    t.deepEqual(readdirSync(home), []);
  }
});
