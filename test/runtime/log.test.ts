/** The log on a terminal. */
import type { WriteStream } from 'node:tty';
import test from 'ava';
import { escapeControls, escapeLines, hasControls } from '../../src/node/files.ts';
import { html } from '../../src/service/html.ts';
import { createLogger } from '../../src/service/log.ts';

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
