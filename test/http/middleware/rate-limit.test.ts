/** Rate limits: 429 before the body, and headers with the remaining requests. */
import test from 'ava';
import { createSharedRateLimiters } from '../../../src/service/auth/rate-limits.ts';
import { accountOf } from '../../../src/service/http/auth.ts';
import { openRedis } from '../../../src/service/redis.ts';
import { analysis, rawHead, startApp, tokens } from '../../support/app.ts';
import { type Call, call, wire } from '../../support/http.ts';
import { useRedis } from '../../support/redis.ts';
import { until } from '../../support/wait.ts';

const echo = analysis({ do: 'echo' });
const from = (address: string, asked: Call = echo): Call => ({
  ...asked,
  headers: { ...asked.headers, 'X-Forwarded-For': address },
});

test('each token has its own limit and headers', async (t) => {
  const app = await startApp(t, { env: { UNDERTONE_RATE_LIMIT: '2/60' } });
  for (const rest of [1, 0]) {
    const { status, headers } = await call(app.port, echo);
    t.deepEqual([status, headers['ratelimit-policy']], [200, '"token";q=2;w=60']);
    t.regex(String(headers.ratelimit), new RegExp(`^"token";r=${rest};t=[1-6]\\d$`));
  }
  const { status, headers, body } = await call(app.port, echo);
  t.is(status, 429);
  t.regex(String(headers.ratelimit), /^"token";r=0;t=[1-6]\d$/);
  t.is(headers['retry-after'], String(headers.ratelimit).split('t=')[1] ?? '');
  t.deepEqual(JSON.parse(body), {
    detail: 'Expected at most 2 requests in 60 s from one token, got more',
    code: 'rate_limited',
    request_id: 'id-1',
  });
  t.is((await call(app.port, analysis({ do: 'echo' }, tokens.emotion))).status, 200);
  t.is((await call(app.port, { path: '/health' })).status, 200);
});

test('requests of an address count before their token is verified', async (t) => {
  const env = { UNDERTONE_ADDRESS_RATE_LIMIT: '2/60', UNDERTONE_TRUST_PROXY: '1' };
  const app = await startApp(t, { env });
  const guess = analysis({ do: 'echo' }, 'a-guess-that-is-wrong');
  const statuses = [];
  for (const asked of [guess, guess, echo])
    statuses.push((await call(app.port, from('192.0.2.1', asked))).status);
  t.deepEqual(statuses, [401, 401, 429]);
  t.is((await call(app.port, from('192.0.2.2'))).status, 200);
  t.is((await call(app.port, from('192.0.2.9, 192.0.2.2'))).status, 200);
  t.is((await call(app.port, from('192.0.2.9, 192.0.2.2'))).status, 429);
});

test('every path but those of supervisors counts for the address', async (t) => {
  const app = await startApp(t, { env: { UNDERTONE_ADDRESS_RATE_LIMIT: '3/60' }, wait: false });
  for (const path of ['/health', '/ready', '/health', '/ready']) await call(app.port, { path });
  const paths = ['/openapi.json', '/nothing', '/account/api/session', '/docs'];
  const statuses = await Promise.all(paths.map(async (path) => (await call(app.port, { path })).status));
  t.deepEqual(statuses.toSorted(), [200, 200, 404, 429].toSorted());
  t.is((await call(app.port, { path: '/health' })).status, 200);
});

test('both limits have headers, and a client without a proxy cannot choose its address', async (t) => {
  const env = { UNDERTONE_ADDRESS_RATE_LIMIT: '1/60', UNDERTONE_RATE_LIMIT: '9/60' };
  const app = await startApp(t, { env });
  const { headers } = await call(app.port, from('192.0.2.1'));
  t.is(headers['ratelimit-policy'], '"address";q=1;w=60, "token";q=9;w=60');
  t.regex(String(headers.ratelimit), /^"address";r=0;t=\d+, "token";r=8;t=\d+$/);
  t.is(headers['x-ratelimit-limit'], '1');
  t.is(headers['x-ratelimit-remaining'], '0');
  const resetMs = 1000 * Number(headers['x-ratelimit-reset']) - Date.parse(String(headers.date));
  t.true(resetMs > 0 && resetMs <= 62_000, `${resetMs}`);
  t.is((await call(app.port, from('192.0.2.2'))).status, 429);
});

test('429 does not wait for the body', async (t) => {
  const app = await startApp(t, { env: { UNDERTONE_RATE_LIMIT: '1/60' } });
  await call(app.port, echo);
  const client = await wire(app.port);
  client.socket.write(`${rawHead('Content-Length: 1000000', 'Expect: 100-continue')}\r\n`);
  const answer = await client.ended();
  client.socket.destroy();
  t.regex(answer, /^HTTP\/1\.1 429 Too Many Requests\r\n[\s\S]*\r\nConnection: close\r\n/i);
});

test('a hanging Redis delays only requests within its first timeout', async (t) => {
  const redis = await useRedis(t);
  const connection = openRedis(redis.url);
  t.teardown(() => connection.disconnect());
  const states: boolean[] = [];
  const rateLimiters = createSharedRateLimiters(connection, 's', (reachable) => states.push(reachable));
  const { port } = await startApp(t, { env: { UNDERTONE_RATE_LIMIT: '999/600' }, rateLimiters });
  const seconds = async () => {
    const asked = performance.now();
    t.is((await call(port, echo)).status, 200);
    return (performance.now() - asked) / 1000;
  };
  await seconds();
  redis.hang();
  const [first] = await Promise.all([seconds(), seconds()]);
  t.true(first > 2.5, `${first} s`);
  t.deepEqual(states, [false]);
  // A request that waited for Redis would take as long as the first.
  const rest: number[] = [];
  for (let count = 0; count < 10; count++) rest.push(await seconds());
  const late = rest.filter((one) => one > first / 2);
  t.true(late.length <= 2, `${rest} s`);
  t.deepEqual(states, [false]);
  redis.goOn();
  await until(() => states.length === 2);
  t.regex(String((await call(port, echo)).headers.ratelimit), /r=99[5-7]/);
});

test('hosts share counters in Redis, and count alone while it is unreachable', async (t) => {
  const redis = await useRedis(t);
  const states: boolean[] = [];
  const env = { UNDERTONE_RATE_LIMIT: '3/600' };
  const host = () => {
    const connection = openRedis(redis.url);
    t.teardown(() => connection.disconnect());
    return startApp(t, {
      env,
      rateLimiters: createSharedRateLimiters(connection, 's', (reachable) => states.push(reachable)),
    });
  };
  const [first, second] = await Promise.all([host(), host()]);
  const rest = async ({ port }: { readonly port: number }) => {
    const { status, headers } = await call(port, echo);
    return [status, /r=(\d+)/.exec(String(headers.ratelimit))?.[1]];
  };
  t.deepEqual(
    [await rest(first), await rest(second), await rest(first)],
    [
      [200, '2'],
      [200, '1'],
      [200, '0'],
    ],
  );
  t.deepEqual(await rest(second), [429, '0']);
  await redis.kill();
  await until(() => states.length === 2);
  t.deepEqual(
    [await rest(first), await rest(second)],
    [
      [200, '2'],
      [200, '2'],
    ],
  );
  await redis.start();
  await until(() => states.length === 4);
  t.deepEqual(
    [await rest(first), await rest(second)],
    [
      [200, '2'],
      [200, '1'],
    ],
  );
  t.deepEqual(states, [false, false, true, true]);
});

// The account of a token.

const grant = { id: 'tok_1', name: 'ci', owner: null, purpose: null, session: null, scopes: [] };

test('tokens of one account share it, and each operator token is its own account', (t) => {
  const operator = ['tok_1', 'tok_2'].map((id) => accountOf({ ...grant, id }));
  t.is(new Set(operator).size, 2);
  const account = ['tok_1', 'tok_2'].map((id) => accountOf({ ...grant, id, owner: 'ada' }));
  t.is(new Set(account).size, 1);
});

test('a request without a token has no account', (t) => {
  t.throws(() => accountOf(undefined), { message: /needs a token$/ });
});
