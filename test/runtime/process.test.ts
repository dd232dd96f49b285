/** What a process reads and writes: the log on a terminal, regular files, signals. */

import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { WriteStream } from 'node:tty';
import test, { type ExecutionContext } from 'ava';
import pino from 'pino';
import { escapeControls, escapeLines, hasControls } from '../../src/node/controls.ts';
import { FileError, readRegularFile } from '../../src/node/files.ts';
import { html } from '../../src/service/html.ts';
import { createLogger } from '../../src/service/log.ts';
import { handleSignals } from '../../src/service/shutdown.ts';
import { makeFolder } from '../support/folder.ts';
import { words } from '../support/words.ts';

test('lines for a terminal have the time, the level, the message, the fields and the stack', (t) => {
  let text = '';
  const terminal = {
    isTTY: true,
    write: (more: string) => {
      text += more;
    },
  };
  const logger = createLogger('info', terminal as unknown as WriteStream);
  logger.debug('hidden');
  logger.info({ route: '/v1/analyze', status: 200 }, 'request');
  logger.error({ err: new Error('lost') }, 'worker lost');
  const [request = '', lost = '', stack = ''] = text.split('\n');
  t.regex(request, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: request \{"route":"\/v1\/analyze","status":200\}$/);
  t.regex(lost, /^\[[\d:.]+\] ERROR: worker lost$/);
  t.is(stack, 'Error: lost');
});

const hostile = ['\u001b[2J', '\u009b2J', '\u0007', '\u202etxt', '\u2066', '\u2028', '\r', '\u007f'];

for (const text of hostile) {
  test(`${JSON.stringify(text)} is escaped`, (t) => {
    t.true(hasControls(text));
    t.false(hasControls(escapeControls(text)));
    t.false(hasControls(escapeLines(text)));
    t.false(hasControls(html`<p>${text}</p>`.html));
  });
}

test('other text stays as it is', (t) => {
  const text = 'Grüße, 話す, العربية 🙂 <b>';
  t.is(escapeControls(text), text);
  t.is(escapeLines(`${text}\n\t${text}`), `${text}\n\t${text}`);
  t.is(escapeControls('a\nb'), 'a\\u000ab');
});

const folder = fs.realpathSync(makeFolder());
const root = join(folder, 'base');
for (const name of ['base', 'base/deep', 'base-other', 'other']) fs.mkdirSync(join(folder, name));
for (const name of ['base/deep/a', 'base-other/a', 'other/a']) fs.writeFileSync(join(folder, name), name);
fs.symlinkSync('deep/a', join(root, 'within'));
fs.symlinkSync('../other/a', join(root, 'out'));
fs.symlinkSync('../other', join(root, 'outside'));
execFileSync('mkfifo', [join(root, 'pipe')]);

const read = async (path: string, roots: readonly string[]) =>
  (await readRegularFile(path, { maxBytes: 100, roots })).toString();

for (const path of ['base/deep/a', 'base/within', 'base/deep/../within', 'other/../base/deep/a'])
  test(`${path} is inside`, async (t) => {
    t.is(await read(join(folder, path), [root]), 'base/deep/a');
    t.is(await read(join(folder, path), ['/']), 'base/deep/a');
  });

for (const path of words`other/a base/../other/a base-other/a base/out base/outside/a base absent`)
  test(`${path} is not inside`, async (t) => {
    const error = await t.throwsAsync(read(join(folder, path), [root]), { instanceOf: FileError });
    t.is((error as FileError).got, 'none inside the allowed folders');
  });

test('one of several folders is enough', async (t) => {
  t.is(await read(join(folder, 'other/a'), [root, join(folder, 'other')]), 'other/a');
});

test('a pipe inside is not opened, and the size is checked before reading', async (t) => {
  await t.throwsAsync(read(join(root, 'pipe'), [root]), { message: /^a device, pipe or socket: / });
  await t.throwsAsync(readRegularFile(join(root, 'within'), { maxBytes: 3, setting: 'LIMIT' }), {
    message: /^11 bytes, more than 3 \(LIMIT\): /,
  });
});

// Signals: the first shuts down gracefully, the second aborts, the third exits.

type Signal = 'SIGTERM' | 'SIGINT';

/** Calls the listener of handleSignals with a fake clock. @returns a function that sends a signal and lists the calls so far */
function open(t: ExecutionContext) {
  const before = process.listeners('SIGTERM');
  const now = performance.now;
  let clock = 0;
  performance.now = () => clock;
  const done: string[] = [];
  const note = (what: string) => async () => {
    done.push(what);
    await new Promise(() => {});
  };
  handleSignals({
    logger: pino({ level: 'silent' }),
    stop: note('stop'),
    abort: note('break off'),
    exit: (code) => done.push(`exit ${code}`),
    parent: null,
  });
  const listener = process.listeners('SIGTERM').find((one) => !before.includes(one)) as (s: Signal) => void;
  t.teardown(() => {
    performance.now = now;
    for (const signal of ['SIGTERM', 'SIGINT']) process.off(signal, listener);
  });
  return (signal: Signal, ms: number) => {
    clock += ms;
    listener(signal);
    return done.join(', ');
  };
}

test.serial('a signal repeated within 500 ms, as by npm, counts once', (t) => {
  const send = open(t);
  t.is(send('SIGINT', 0), 'stop');
  t.is(send('SIGINT', 499), 'stop');
});

test.serial('the second signal aborts, the third exits', (t) => {
  const send = open(t);
  t.is(send('SIGTERM', 0), 'stop');
  t.is(send('SIGTERM', 500), 'stop, break off');
  t.is(send('SIGTERM', 0), 'stop, break off, exit 1');
});

test.serial('a different signal is no repeat of the first', (t) => {
  const send = open(t);
  send('SIGINT', 0);
  t.is(send('SIGTERM', 0), 'stop, break off');
});
