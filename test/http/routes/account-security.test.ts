import test from 'ava';
import { sql } from 'kysely';
import { startAccountApp, testAccounts } from '../../support/account.ts';
import { analysis, tokens } from '../../support/app.ts';
import { cookieOf, password } from '../../support/browser.ts';
import { call } from '../../support/http.ts';
import { words } from '../../support/words.ts';

const email = 'ada@home.example';

test('a form posted by another site is refused, with and without a session', async (t) => {
  const { app, browser, database } = await startAccountApp(t);
  const ada = browser();
  await ada.signUp(email);
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const text = { 'Content-Type': 'text/plain' };
  for (const path of words`sign-up log-in log-out password remove tokens playground-token playground-link`) {
    for (const from of ['https://evil.example', 'null', `http://evil.127.0.0.1:${app.port}`, '']) {
      const { status, json } = await ada.ask(path, {}, { headers: { ...form, Origin: from } });
      t.deepEqual([status, json.code], [403, 'forbidden'], `${path} from ${from}`);
    }
    const { status } = await ada.ask(
      path,
      { password },
      { headers: { ...text, Origin: 'https://evil.example' } },
    );
    t.is(status, 403);
  }
  t.truthy((await ada.ask('session')).json.user);
  t.deepEqual(await database.selectFrom('tokens').selectAll().execute(), []);
});

test('a POST without Origin is refused', async (t) => {
  const { app } = await startAccountApp(t);
  const body = JSON.stringify({ email, password });
  const headers = { 'Content-Type': 'application/json' };
  const { status, body: answer } = await call(app.port, {
    method: 'POST',
    path: '/account/api/sign-up',
    headers,
    body,
  });
  t.is(status, 403);
  t.is(
    JSON.parse(answer).detail,
    `Expected the service's own address (127.0.0.1:${app.port}) for \`Origin\`, got nothing`,
  );
});

test('UNDERTONE_PUBLIC_URL is the only allowed origin', async (t) => {
  const env = { UNDERTONE_PUBLIC_URL: 'https://voice.example' };
  const { app, browser } = await startAccountApp(t, { env });
  const local = `http://127.0.0.1:${app.port}`;
  const { status, json } = await browser().ask(
    'sign-up',
    { email, password },
    { headers: { Origin: local } },
  );
  t.deepEqual([status, json.detail], [403, `Expected https://voice.example for \`Origin\`, got ${local}`]);
  t.is((await browser().signUp(email)).status, 200);
});

test('the cookie is HttpOnly, SameSite=Strict, below /account, and Secure under https', async (t) => {
  const flags = async (env: Record<string, string>) => {
    const { browser } = await startAccountApp(t, { env });
    const { headers } = await browser().signUp(email);
    const [line = '', ...more] = headers['set-cookie'] ?? [];
    t.deepEqual(more, []);
    t.is(headers['cache-control'], 'no-store');
    return line.replace(/=[^;]*/, '').split('; ');
  };
  t.deepEqual(
    await flags({}),
    words`
    undertone.session_token Max-Age=604800 Path=/account HttpOnly SameSite=Strict
  `,
  );
  t.deepEqual(
    await flags({ UNDERTONE_PUBLIC_URL: 'https://voice.example' }),
    words`
    __Secure-undertone.session_token Max-Age=604800 Path=/account HttpOnly Secure SameSite=Strict
  `,
  );
});

test('a log-in ends an earlier session (no session fixation)', async (t) => {
  const { browser } = await startAccountApp(t);
  const mallory = browser();
  await mallory.signUp('mallory@home.example');
  const planted = cookieOf(mallory);
  const ada = browser();
  await ada.signUp(email);
  await ada.ask('log-out', {});
  const [name, value] = [...mallory.cookies()][0] as [string, string];
  ada.setCookie(name, value);
  await ada.ask('log-in', { email, password });
  t.not(cookieOf(ada), planted);
  t.like((await ada.ask('session')).json.user, { email });
  t.is((await mallory.ask('session')).json.user, null);
  ada.setCookie(name, 'of-my-own-choice.AAAA');
  t.is((await ada.ask('session')).json.user, null);
});

test('an account keeps its twenty latest sessions', async (t) => {
  const { browser, database } = await startAccountApp(t);
  const first = browser();
  await first.signUp(email);
  for (let count = 0; count < 20; count++) {
    t.is((await browser().ask('log-in', { email, password })).status, 200);
  }
  t.is((await sql`select id from session`.execute(database)).rows.length, 20);
  t.is((await first.ask('session')).json.user, null);
});

test('a modified or foreign cookie is ignored', async (t) => {
  const { browser, url } = await startAccountApp(t);
  const ada = browser();
  await ada.signUp(email);
  const [name, value] = [...ada.cookies()][0] as [string, string];
  const other = await startAccountApp(t, { url, env: { UNDERTONE_SECRET: 'another secret '.repeat(3) } });
  const there = other.browser();
  there.setCookie(name, value);
  t.is((await there.ask('session')).json.user, null);
  ada.setCookie(
    name,
    value.replace(/^./, (first) => (first === 'a' ? 'b' : 'a')),
  );
  t.is((await ada.ask('session')).json.user, null);
});

testAccounts('an expired session is invalid, and the next log-in deletes it', async (t, app) => {
  const ada = app.browser();
  await ada.signUp(email);
  await sql`update session set "expiresAt" = '2020-01-01T00:00:00.000Z'`.execute(app.database);
  const cookie = { headers: { Cookie: cookieOf(ada) } };
  t.is((await ada.ask('session', undefined, cookie)).json.user, null);
  const there = app.browser();
  await there.ask('log-in', { email, password });
  const { rows } = await sql`select id from session`.execute(app.database);
  t.is(rows.length, 1);
  t.is((await ada.ask('session', undefined, cookie)).json.user, null);
  t.truthy((await there.ask('session')).json.user);
});

test('analyses ignore cookies', async (t) => {
  const { app, browser } = await startAccountApp(t);
  const ada = browser();
  await ada.signUp(email);
  const { headers, ...rest } = analysis({ do: 'echo' });
  const { Authorization, ...others } = headers;
  t.is(Authorization, `Bearer ${tokens.full}`);
  const { status } = await call(app.port, { ...rest, headers: { ...others, Cookie: cookieOf(ada) } });
  t.is(status, 401);
});

test('neither password, cookie, token nor address is in the log', async (t) => {
  const { app, browser, database } = await startAccountApp(t);
  const ada = browser();
  await ada.signUp(email);
  await ada.ask('log-in', { email, password: 'wrong-wrong-wrong' });
  await ada.ask('password', { current_password: 'wrong-wrong-wrong', new_password: password });
  const token = String((await ada.ask('tokens', { name: 'ci', scopes: ['analyze:emotion'] })).json.token);
  await ada.ask('sign-up', {}, { body: `{"password": "${password}` });
  const cookie = [...ada.cookies().values()][0] as string;
  await database.destroy();
  await ada.ask('log-in', { email, password });
  await ada.signUp('b@home.example');
  t.true(app.log.length > 5);
  const log = app.log.join('');
  for (const secret of [password, 'wrong-wrong', token, cookie, email, 'b@home'])
    t.false(log.includes(secret), secret);
});

test('password guesses of one account are throttled per network, and its owner logs in from another', async (t) => {
  const { browser } = await startAccountApp(t);
  await browser().signUp(email);
  const attacker = browser();
  for (let count = 0; count < 10; count++) {
    const { status } = await attacker.ask('log-in', {
      email: email.toUpperCase(),
      password: `wrong ${count}`,
    });
    t.is(status, 401);
  }
  const { status, json, headers } = await attacker.ask('log-in', { email, password });
  t.deepEqual([status, json.code], [429, 'rate_limited']);
  const seconds = Number(headers['retry-after']);
  t.true(seconds > 800 && seconds <= 900);
  t.is((await attacker.ask('log-in', { email: 'other@home.example', password })).status, 401);
  t.is((await browser().ask('log-in', { email, password })).status, 200);
});

test('guesses from one address are throttled across accounts', async (t) => {
  const { browser } = await startAccountApp(t);
  const { ask } = browser();
  const from = (index: number) => ({ headers: { 'X-Forwarded-For': `192.0.2.${index}, 203.0.113.9` } });
  const guess = (index: number) => ask('log-in', { email: `p${index}@home.example`, password }, from(index));
  for (let index = 0; index < 50; index++) t.is((await guess(index)).status, 401);
  t.is((await guess(50)).status, 429);
  t.is((await browser().ask('log-in', { email: 'p50@home.example', password })).status, 401);
});

test('one address can create twenty accounts per hour', async (t) => {
  const { browser } = await startAccountApp(t);
  const { ask } = browser();
  const make = (index: number) => ask('sign-up', { email: `p${index}@home.example`, password });
  const replies = await Promise.all(Array.from({ length: 21 }, (_, index) => make(index)));
  t.is(replies.filter(({ status }) => status === 200).length, 20);
  t.is(replies.filter(({ status }) => status === 429).length, 1);
});

test('Strict-Transport-Security is sent with https only', async (t) => {
  for (const [env, insists] of [
    [{}, false],
    [{ UNDERTONE_PUBLIC_URL: 'http://voice.example' }, false],
    [{ UNDERTONE_PUBLIC_URL: 'https://voice.example' }, true],
  ] as const) {
    const { app } = await startAccountApp(t, { env });
    const { headers } = await call(app.port, { path: '/health' });
    t.is(headers['strict-transport-security'] !== undefined, insists);
    t.is(String(headers['content-security-policy']).includes('upgrade-insecure-requests'), insists);
  }
});

testAccounts(
  'an incomplete account can be created again after a minute',
  async (t, { browser, database, kind }) => {
    await browser().signUp(email);
    await sql`delete from "account"`.execute(database);
    t.is((await browser().signUp(email)).status, 422);
    const old = new Date(Date.now() - 61_000);
    const createdAt = kind === 'postgres' ? old : old.toISOString();
    await sql`update "user" set "createdAt" = ${createdAt}`.execute(database);
    const made = await browser().signUp(email);
    t.true(made.status < 300, JSON.stringify(made.json));
    t.is((await browser().signUp(email)).status, 422);
    t.is((await browser().ask('log-in', { email, password })).status, 200);
  },
);
