/** Names with what a terminal interprets, in everything that the command prints. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { hasControls } from '../../src/node/files.ts';
import { commandLine, runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { hasTerminal, runInTerminal } from '../support/terminal.ts';

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
