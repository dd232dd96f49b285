import test from 'ava';
import { escapeControls, escapeLines, hasControls } from '../../src/node/files.ts';
import { html } from '../../src/service/html.ts';

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
