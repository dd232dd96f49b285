/** Cross-origin requests are allowed for the configured origins only. */
import test from 'ava';
import { analysis, startApp } from '../../support/app.ts';
import { type Call, call } from '../../support/http.ts';
import { share } from '../../support/share.ts';

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
