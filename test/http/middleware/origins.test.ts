/** Hosts and origins: names that a page of another site reaches, CORS and security headers. */
import test from 'ava';
import { hostsOf, isKnownHost } from '../../../src/service/http/hosts.ts';
import { startAccountApp } from '../../support/account.ts';
import { analysis, startApp } from '../../support/app.ts';
import { cookieOf, password } from '../../support/browser.ts';
import { bodyOf, type Call, call, exchangeBytes } from '../../support/http.ts';
import { share } from '../../support/share.ts';

const email = 'ada@home.example';
const pages = {
  documents: new Map([
    ['/', '<!doctype html>'],
    ['/account', '<!doctype html>'],
  ]),
  assets: new Map(),
  trust: '',
  docs: '',
  guide: '',
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

// Cross-origin requests are allowed for the configured origins only.

const shared = share(test, (t) => startApp(t, { env }));

const origin = 'https://app.example';
const env = { UNDERTONE_CORS_ORIGINS: `${origin}, https://other.example` };
const echo = analysis({ do: 'echo' });

const as = (who: string, { headers, ...asked }: Call): Call => ({
  ...asked,
  headers: { ...headers, Origin: who },
});

const preflight = (path: string, who: string): Call => ({
  method: 'OPTIONS',
  path,
  headers: {
    Origin: who,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization',
  },
});

const about = (headers: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => /^access-control-|^vary$/.test(name)));

test('by default no origin gets CORS headers', async (t) => {
  const app = await startApp(t);
  const asked = await call(app.port, preflight(echo.path, origin));
  t.deepEqual([asked.status, about(asked.headers)], [405, {}]);
  t.deepEqual(about((await call(app.port, as(origin, echo))).headers), {});
});

test('the preflight of a configured origin needs no token', async (t) => {
  const app = shared();
  for (const path of [echo.path, '/v1/models', '/health', '/openapi.json', '/v1/nothing']) {
    const { status, body, headers } = await call(app.port, preflight(path, origin));
    t.deepEqual([status, body], [204, ''], path);
    t.deepEqual(about(headers), {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET,HEAD,POST,DELETE',
      'access-control-allow-headers': 'Authorization,Content-Type,Idempotency-Key,X-Request-Id,traceparent',
      'access-control-max-age': '600',
      vary: 'Origin',
    });
  }
});

test('a configured origin can read responses, errors and their headers, without cookies', async (t) => {
  const app = shared();
  const missing = { ...echo, headers: { 'Content-Type': 'text/plain' } };
  for (const [asked, wanted] of [
    [echo, 200],
    [missing, 401],
    [{ path: '/v1/nothing' }, 404],
  ] as const) {
    const { status, headers } = await call(app.port, as(origin, asked));
    t.is(status, wanted);
    t.deepEqual(about(headers), {
      'access-control-allow-origin': origin,
      'access-control-expose-headers':
        'X-Request-Id,Location,Retry-After,RateLimit,RateLimit-Policy,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,Server-Timing,traceparent',
      vary: 'Origin',
    });
  }
});

test('similar origins are not allowed', async (t) => {
  const app = shared();
  for (const other of [`${origin}:8443`, 'http://app.example', `${origin}.evil.example`, 'null', '*', '']) {
    const asked = await call(app.port, preflight(echo.path, other));
    t.deepEqual([asked.status, about(asked.headers)], [405, { vary: 'Origin' }], other);
    t.deepEqual(about((await call(app.port, as(other, echo))).headers), { vary: 'Origin' }, other);
  }
});

test('accounts, pages and metrics have no CORS headers', async (t) => {
  const app = shared();
  for (const path of ['/account/api/session', '/account', '/', '/metrics', '/ready', '/docs', '/v1']) {
    const asked = await call(app.port, preflight(path, origin));
    t.not(asked.status, 204, path);
    t.deepEqual(about(asked.headers), {}, path);
    t.deepEqual(about((await call(app.port, as(origin, { path }))).headers), {}, path);
  }
});

// Security headers.

test('every response, errors too, has the security headers', async (t) => {
  const app = await startApp(t);
  for (const path of ['/health', '/nothing', '/v1/models', '/openapi.json', '/metrics']) {
    const { headers } = await call(app.port, { path });
    t.like(headers, {
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    t.regex(String(headers['content-security-policy']), /default-src '(self|none)'/, path);
    t.is(headers['x-powered-by'], undefined);
    t.is(headers.server, undefined);
  }
});
