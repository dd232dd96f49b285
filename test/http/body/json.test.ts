/** JSON bodies, read by koa-body. */
import test from 'ava';
import { parseConfig } from '../../../src/service/config.ts';
import { checkUrls } from '../../../src/service/http/routes/jobs.ts';
import { startApp, tokens } from '../../support/app.ts';
import { call, wire } from '../../support/http.ts';
import { share } from '../../support/share.ts';
import { until } from '../../support/wait.ts';

const shared = share(test, startApp);

const path = '/v1/stream/tokens';
const headers = { Authorization: `Bearer ${tokens.full}`, 'Content-Type': 'application/json' };

test.serial('a body without a JSON object in UTF-8 is refused by what was expected', async (t) => {
  const { port } = shared();
  const send = async (body: string | Buffer, more: Readonly<Record<string, string>> = {}) => {
    const reply = await call(port, { method: 'POST', path, headers: { ...headers, ...more }, body });
    const { code, detail } = JSON.parse(reply.body);
    return [reply.status, code ?? detail[0].type, code === undefined ? detail[0].msg : detail];
  };
  const refused = [400, 'bad_request', 'Expected a JSON object for `body`, got something else'];
  const chunked = { 'Transfer-Encoding': 'chunked' };
  t.deepEqual(await send('', chunked), refused);
  const proto = ['{"__proto__": {}}', '{"a": [{"\\u005f_proto__": 1}]}'];
  for (const body of ['{"scopes": [', '[]', '7', ...proto]) t.deepEqual(await send(body), refused);
  for (const bytes of ['\xff', '\xc3']) {
    t.deepEqual(await send(Buffer.from(`{"scopes": "${bytes}"}`, 'latin1')), refused);
    t.deepEqual(await send(Buffer.from(`{}${bytes}`, 'latin1')), refused);
  }
  const valid = '{"scopes": ["analyze:emotion", "\ufffd"]}';
  t.regex(String((await send(valid))[2]), /Expected .* for `scopes`, got something else/);
  t.deepEqual(await send('{}', { 'Content-Type': 'text/json' }), [
    400,
    'bad_request',
    'Expected application/json for `Content-Type`, got text/json',
  ]);
  const large = [413, 'value_error.audio.too_large', 'Expected at most 1024 bytes for `body`, got more'];
  const body = JSON.stringify({ scopes: 'x'.repeat(1024) });
  t.deepEqual(await send(body), large);
  t.deepEqual(await send(body, chunked), large);
});

test.serial('a client that leaves within its body counts as gone, and its bytes are released', async (t) => {
  const app = shared();
  const client = await wire(app.port);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  client.socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n${lines.join('')}\r\n{`);
  await until(async () => (await app.metric('undertone_held_bytes')) === 1);
  client.socket.destroy();
  const left = `undertone_requests_total{route="${path}",method="POST",status="499"}`;
  await until(async () => (await app.metric(left)) === 1);
  t.is(await app.metric('undertone_held_bytes'), 0);
});

test('a long list of URLs is checked in several turns of the event loop', async (t) => {
  const config = parseConfig({ UNDERTONE_JOB_URL_PREFIXES: 'https://bucket.example/a/' });
  const list = (count: number) => Array<string>(count).fill('https://bucket.example/a/b.wav');
  const turnsOf = async (count: number) => {
    let turns = 0;
    let done = false;
    const next = () => {
      turns++;
      if (!done) setImmediate(next);
    };
    setImmediate(next);
    await checkUrls(list(count), config);
    done = true;
    return turns;
  };
  await turnsOf(1);
  t.true((await turnsOf(1000)) >= 9);
  await t.throwsAsync(checkUrls([...list(500), 'https://bucket.example/b/'], config), {
    message: /urls\[500\]/,
  });
});
