/** Host names of the pages and routes that use cookies. */
import test from 'ava';
import { hostsOf, isKnownHost } from '../../../src/service/http/origins.ts';
import { cookieOf, password, startAccountApp } from '../../support/account.ts';
import { startApp } from '../../support/app.ts';
import { bodyOf, call, exchangeBytes } from '../../support/http.ts';

const email = 'ada@home.example';
const pages = {
  documents: new Map([
    ['/', '<!doctype html>'],
    ['/account', '<!doctype html>'],
  ]),
  assets: new Map(),
  trust: '',
  docs: '',
};

/** Sends raw header lines. */
async function raw(port: number, target: string, lines: readonly string[]) {
  const head = [`GET ${target} HTTP/1.1`, ...lines, 'Connection: close', '', ''];
  const answer = await exchangeBytes(port, head.join('\r\n'));
  return {
    status: Number(answer.split(' ')[1]),
    json: JSON.parse(bodyOf(answer)) as Record<string, unknown>,
  };
}

test('a rebound name creates no account and reads nothing', async (t) => {
  const { app, browser, database } = await startAccountApp(t);
  const ada = browser();
  const host = `rebound.example:${app.port}`;
  const headers = { Host: host, Origin: `http://${host}` };
  const made = await ada.ask('sign-up', { email, password }, { headers });
  t.deepEqual([made.status, made.json.code], [421, 'misdirected']);
  t.is(
    made.json.detail,
    `Expected localhost, an IP address or the host of UNDERTONE_PUBLIC_URL for \`Host\`, got "${host}": set UNDERTONE_PUBLIC_URL to the address that browsers use`,
  );
  t.deepEqual(await database.selectFrom('user').selectAll().execute(), []);
  await ada.signUp(email);
  const cookie = { ...headers, Cookie: cookieOf(ada) };
  for (const [path, body] of [
    ['session'],
    ['tokens'],
    ['tokens', { name: 'ci', scopes: ['analyze:emotion'] }],
    ['playground-token', {}],
    ['log-in', { email, password }],
    ['log-out', {}],
    ['remove', { password }],
  ] as [string, object?][]) {
    t.is((await ada.ask(path, body, { headers: cookie })).status, 421, path);
  }
  t.truthy((await ada.ask('session')).json.user);
});

test('a rebound name reaches the API but no metrics, and no page that uses cookies', async (t) => {
  const { port } = await startApp(t, { pages });
  const statusOf = async (path: string) =>
    (await call(port, { path, headers: { Host: 'rebound.example' } })).status;
  for (const path of ['/', '/account', '/docs']) t.is(await statusOf(path), 421);
  t.is(await statusOf('/metrics'), 421);
  for (const path of ['/health', '/ready', '/v1/models', '/openapi.json']) t.is(await statusOf(path), 200);
  t.is((await call(port, { path: '/account' })).status, 200);
});

const names: readonly (readonly [host: string, taken: boolean])[] = [
  ['localhost', true],
  ['localhost:8080', true],
  ['LOCALHOST', true],
  ['localhost.', true],
  ['127.0.0.1', true],
  ['192.0.2.7:8080', true],
  ['[::1]', true],
  ['[2001:DB8::1]:8080', true],
  ['[::ffff:127.0.0.1]:80', true],
  ['voice.example', true],
  ['Voice.Example:8443', true],
  ['voice.example.', true],
  ['undertone.internal:8080', true],
  ['localhost.evil.example', false],
  ['evil-localhost', false],
  ['evil.localhost', false],
  ['localhost..', false],
  ['localhost:8080.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['voice.example.evil.example', false],
  ['evil.voice.example', false],
  ['[::1].evil.example', false],
  ['evil.example', false],
  ['', false],
];

test('localhost, IP addresses and configured names are known in every notation', async (t) => {
  const known = hostsOf({ publicUrl: 'https://voice.example', host: 'undertone.internal' });
  for (const [host, taken] of names) t.is(isKnownHost(host, known), taken, host);
  const { app } = await startAccountApp(t, { env: { UNDERTONE_PUBLIC_URL: 'https://voice.example' } });
  for (const [host, taken] of names.filter(([name]) => !name.startsWith('undertone.'))) {
    const { status } = await raw(app.port, '/account/api/session', [`Host: ${host}`]);
    t.true(taken ? status === 200 : status === 421 || status === 400, `${host}: ${status}`);
  }
});

test('X-Forwarded-Host is ignored, even from a trusted proxy', async (t) => {
  const { app } = await startAccountApp(t, { env: { UNDERTONE_TRUST_PROXY: '1' } });
  const forwarded = (name: string) => [
    `X-Forwarded-Host: ${name}`,
    `Forwarded: host=${name}`,
    `X-Original-Host: ${name}`,
  ];
  const ask = (host: string, lines: readonly string[]) =>
    raw(app.port, '/account/api/session', [`Host: ${host}`, ...lines]);
  t.is((await ask('rebound.example', forwarded('localhost'))).status, 421);
  t.is((await ask('localhost', forwarded('rebound.example'))).status, 200);
});

test('two Host headers are a bad request on every path', async (t) => {
  const { app } = await startAccountApp(t);
  for (const path of ['/account/api/session', '/health', '/v1/analyze']) {
    for (const [first, second] of [
      ['localhost', 'localhost'],
      ['localhost', 'rebound.example'],
      ['rebound.example', 'localhost'],
      ['', 'localhost'],
    ]) {
      const { status, json } = await raw(app.port, path, [`Host: ${first}`, `hOsT: ${second}`]);
      t.deepEqual([status, json.code], [400, 'bad_request'], `${path} ${first} ${second}`);
      t.is(json.detail, 'Expected one header `Host`, got 2');
    }
  }
});

test('a malformed Host is a bad request', async (t) => {
  const { app } = await startAccountApp(t);
  for (const host of [
    'a b',
    'localhost/x',
    'user@localhost',
    'localhost:8080:1',
    '[::1',
    'localhost:x',
    'a\\b',
    '<x>',
  ]) {
    const { status, json } = await raw(app.port, '/health', [`Host: ${host}`]);
    t.deepEqual(
      [status, json.detail],
      [400, 'Expected HOST or HOST:PORT for `Host`, got something else'],
      host,
    );
  }
});

test('the host of an absolute target is checked', async (t) => {
  const { app } = await startAccountApp(t);
  const session = (origin: string, host: string) =>
    raw(app.port, `${origin}/account/api/session`, [`Host: ${host}`]);
  t.is((await session('http://rebound.example', 'localhost')).status, 421);
  t.is((await session(`http://127.0.0.1:${app.port}`, 'localhost')).status, 200);
});
