/** onnxruntime-node sends telemetry and stores an identifier in the home folder, unless disabled before the first session. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'ava';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { startServer } from '../support/server.ts';

const sample = resolve('examples/sample.wav');

/** An environment that does not disable telemetry; the runtime does so itself where CI is set. */
function homeOf(home: string): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: home, ORT_DISABLE_TELEMETRY: '0', CI: '' };
}

test('the command writes nothing to the home folder', async (t) => {
  const home = makeFolder();
  const { code } = await runCli(['analyze', sample, '--jsonl'], { env: homeOf(home) });
  t.is(code, 0);
  t.deepEqual(readdirSync(home), []);
});

test('a program that uses the package writes nothing there, in a thread either', (t) => {
  const home = makeFolder();
  const analysis = `import('undertone').then(({ analyze }) => analyze(require('fs').readFileSync('${sample}')))`;
  const thread = `new (require('worker_threads').Worker)(${JSON.stringify(analysis)}, { eval: true })`;
  for (const program of [analysis, thread]) {
    execFileSync(process.execPath, ['-e', program], { env: homeOf(home), stdio: 'pipe' });
    t.deepEqual(readdirSync(home), []);
  }
});

test('the service writes nothing there', async (t) => {
  const home = makeFolder();
  const server = await startServer(t, homeOf(home));
  const body = new FormData();
  body.append('audio', new Blob([readFileSync(sample)]));
  const headers = { Authorization: `Bearer ${server.token}` };
  t.is((await fetch(`${server.url}/v1/analyze`, { method: 'POST', headers, body })).status, 200);
  t.deepEqual(await server.stop(), { code: 0, signal: null });
  t.deepEqual(readdirSync(home), []);
});

test('a program that only decodes and extracts keeps its environment', (t) => {
  const audio = JSON.stringify(resolve('src/node/addon.ts'));
  const program = `await import(${audio}); process.stdout.write(process.env.ORT_DISABLE_TELEMETRY)`;
  const args = ['--import=tsx', '--input-type=module', '-e', program];
  t.is(execFileSync(process.execPath, args, { env: homeOf(makeFolder()), encoding: 'utf8' }), '0');
});
