/** The command: help, errors, what it installs, what its output escapes. */

import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { hasControls } from '../../src/node/controls.ts';
import { commandLine, follow, runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { sharedReceiptKeys } from '../support/receipt-keys.ts';
import { useRedis } from '../support/redis.ts';
import { hasTerminal, runInTerminal } from '../support/terminal.ts';

for (const command of [
  'serve',
  'worker',
  'bulk',
  'analyze',
  'features',
  'token create',
  'token list',
  'token revoke',
  'user create',
  'user password',
  'doctor',
]) {
  test(`${command} --help has an example`, async (t) => {
    const { code, stdout } = await runCli([...command.split(' '), '--help']);
    t.is(code, 0);
    t.true(stdout.startsWith(`Usage: undertone ${command}`));
    t.regex(stdout, /\nExit codes:\n {2}0 {2}done\n {2}1 /);
    t.regex(stdout, new RegExp(`Examples:\n(.*\n)*.*undertone ${command}`));
  });
}

test('work is an alias of worker', async (t) => {
  const [alias, worker] = await Promise.all(['work', 'worker'].map((name) => runCli([name])));
  t.deepEqual(alias, worker);
  t.regex(String(alias?.stderr), /^Expected redis:\/\/HOST for `UNDERTONE_REDIS_URL`/);
});

test('--version prints the version of the package', async (t) => {
  const { code, stdout } = await runCli(['--version']);
  t.deepEqual([code, stdout.trim()], [0, JSON.parse(readFileSync('package.json', 'utf8')).version]);
});

// Names with what a terminal interprets, in everything that the command prints.

const hostile = 'a\u001b[2J\u009b31m\u202e\r\u0007b\nforged line.wav';
const shown = 'a\\u001b[2J\\u009b31m\\u202e\\u000d\\u0007b\\u000aforged line.wav';
const folder = fs.realpathSync(makeFolder());
fs.copyFileSync('examples/sample.wav', join(folder, hostile));
const absent = `absent ${hostile}`;

const isPlain = (text: string) => !text.split(/[\n\t]/).some(hasControls);

for (const output of ['text', 'table']) {
  test(`${output} escapes the names of recordings, each on one line`, async (t) => {
    const { stdout, stderr } = await runCli(['analyze', '--output', output, hostile, absent], {
      cwd: folder,
    });
    t.true(isPlain(stdout + stderr), JSON.stringify(stdout + stderr));
    t.true(stdout.includes(shown) && stdout.includes(`No such file: absent ${shown}`));
    t.false(/^forged line/m.test(stdout + stderr));
  });
}

test('JSON keeps the value of a name, and prints it escaped', async (t) => {
  const { stdout } = await runCli(['analyze', '--jsonl', hostile], { cwd: folder });
  t.true(isPlain(stdout));
  t.is(JSON.parse(stdout).path, join(folder, hostile));
});

test('CSV keeps a name in a pipe', async (t) => {
  const { stdout } = await runCli(['analyze', '--output', 'csv', hostile], { cwd: folder });
  t.true(stdout.includes(`"${join(folder, hostile)}"`), JSON.stringify(stdout));
});

(hasTerminal ? test : test.skip)('CSV escapes a name on a terminal', async (t) => {
  fs.writeFileSync(join(folder, 'list'), `${join(folder, 'b\u001b[2J\u009b31m.wav')}\n`);
  const args = ['analyze', '--output', 'csv', '--list', join(folder, 'list')];
  const { raw } = await runInTerminal(commandLine(args).join(' '), 200);
  t.true(raw.includes('b\\u001b[2J\\u009b31m.wav'), JSON.stringify(raw));
});

const errors: Readonly<Record<string, string[]>> = {
  'a wrong option': [`--${hostile}`],
  'an unknown command': [hostile],
  'a list': ['analyze', '--list', absent],
  'a recording of features': ['features', absent, '--spec', 'prosody', '--out', 'out'],
  'a recording of embed': ['embed', absent],
  'a recording of bulk': ['bulk', absent, '--url', 'http://127.0.0.1:9', '--token', 'x', '--output', 'b.csv'],
  'a receipt': ['verify', hostile, hostile, '--keys', hostile],
  models: ['analyze', '--models', hostile, hostile],
  labels: ['evaluate', absent],
};

for (const [what, args] of Object.entries(errors)) {
  test(`the error of ${what} is escaped`, async (t) => {
    const { code, stdout, stderr } = await runCli(args, { cwd: folder });
    t.not(code, 0);
    t.regex(stderr, /\\u001b\[2J/);
    t.true(isPlain(stdout + stderr), JSON.stringify(stdout + stderr));
  });
}

// The service and the worker by the real npx, which ends at SIGTERM without forwarding it.

const settings = {
  UNDERTONE_PORT: '0',
  UNDERTONE_WORKERS: '1',
  UNDERTONE_METRICS_ADDRESS: 'off',
  UNDERTONE_GRACE_S: '0.1',
};

function startByNpx(t: ExecutionContext, command: string, env: Readonly<Record<string, string>>) {
  const folder = makeFolder();
  fs.mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  fs.symlinkSync(resolve('dist/src/cli.js'), join(folder, 'node_modules/.bin/undertone'));
  fs.writeFileSync(join(folder, 'package.json'), '{"name":"installed"}');
  const child = spawn('npx', ['--no-install', 'undertone', command], {
    cwd: folder,
    env: { ...process.env, ...settings, UNDERTONE_DATA_DIR: join(folder, 'data'), ...env },
    detached: true,
  });
  t.teardown(() => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // All processes of the group have ended.
    }
  });
  return follow(t, child);
}

test('the service stops gracefully when npx ends', async (t) => {
  const service = startByNpx(t, 'serve', {});
  await service.printed(/^listening on \S+\n/m);
  // Resolves when the last process has closed the output.
  await service.stop();
  t.regex(service.stderr(), /"signal":"SIGTERM","msg":"stopping"/);
});

test('the worker stops gracefully when npx ends', async (t) => {
  const { url } = await useRedis(t);
  const keys = await sharedReceiptKeys();
  const worker = startByNpx(t, 'worker', { UNDERTONE_REDIS_URL: url, ...keys });
  await worker.printed(/^working with 1 threads\n/m);
  await worker.stop();
  t.regex(worker.stderr(), /"signal":"SIGTERM","msg":"stopping"/);
});
