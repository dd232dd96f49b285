import test from 'ava';
import { sql } from 'kysely';
import { startServer } from '../../../deploy/fleet/postgres.ts';
import { startAccountApp, statusWith, testAccounts } from '../../support/account.ts';
import { cookieOf, password } from '../../support/browser.ts';

const credentials = { email: 'ada@home.example', password };
const loggedOut = { user: null, sign_up: 'open' };
const wrong = 'Expected the address and password of an account, got others';

testAccounts('signing up logs in; logging out and in again works', async (t, { browser }) => {
  const { ask, cookies } = browser();
  t.deepEqual((await ask('session')).json, loggedOut);
  const made = await ask('sign-up', { ...credentials, email: 'Ada@Home.example' });
  t.is(made.status, 200);
  t.deepEqual(made.json, { user: { email: 'ada@home.example', administrator: true }, sign_up: 'open' });
  t.deepEqual((await ask('session')).json, made.json);
  const before = new Map(cookies());
  t.is((await ask('log-out', {})).status, 200);
  t.is(cookies().size, 0);
  t.deepEqual((await ask('session')).json, loggedOut);
  const [name, value] = [...before][0] as [string, string];
  const replayed = await ask('session', undefined, { headers: { Cookie: `${name}=${value}` } });
  t.deepEqual(replayed.json, loggedOut, 'the session ended, not only the cookie');
  t.deepEqual((await ask('log-in', credentials)).json, made.json);
});

testAccounts('a wrong password and an unknown address are refused alike', async (t, { browser }) => {
  const { ask, signUp } = browser();
  await signUp(credentials.email);
  for (const change of [{ password: 'wrong password' }, { email: 'nobody@home.example' }]) {
    const { status, json } = await ask('log-in', { ...credentials, ...change });
    t.is(status, 401);
    t.like(json, { detail: wrong, code: 'unauthenticated' });
  }
});

testAccounts(
  'an address has one account, in any case of its letters and for parallel sign-ups',
  async (t, app) => {
    const asked = ['ada@home.example', 'ADA@home.example', 'ada@HOME.example'].map((email) =>
      app.browser().signUp(email),
    );
    const replies = await Promise.all(asked);
    t.deepEqual(replies.map(({ status }) => status).sort(), [200, 422, 422]);
    const refused = replies.find(({ status }) => status === 422);
    const msg = 'Expected an address without an account for `email`, got one that has an account';
    t.deepEqual(refused?.json.detail, [{ loc: ['body', 'email'], msg, type: 'value_error.email.taken' }]);
  },
);

testAccounts('the next account is no administrator once the first is gone', async (t, { browser }) => {
  const first = browser();
  await first.signUp(credentials.email);
  t.is((await first.ask('remove', { password })).status, 200);
  const { json } = await browser().signUp(credentials.email);
  t.like(json.user, { administrator: false });
});

testAccounts(
  'a new password ends every other session and its playground token',
  async (t, { app, browser }) => {
    const here = browser();
    const there = browser();
    await here.signUp(credentials.email);
    await there.ask('log-in', credentials);
    const stale = cookieOf(here);
    const token = String((await there.ask('playground-token', {})).json.token);
    t.is(await statusWith(app, token), 200);
    const next = 'another long password';
    const refused = await here.ask('password', { current_password: 'not this one', new_password: next });
    t.deepEqual([refused.status, refused.json.detail], [401, wrong]);
    t.is((await here.ask('password', { current_password: password, new_password: next })).status, 200);
    t.truthy((await here.ask('session')).json.user);
    t.is((await there.ask('session')).json.user, null);
    t.is((await here.ask('session', undefined, { headers: { Cookie: stale } })).json.user, null);
    t.is(await statusWith(app, token), 401);
    t.is((await there.ask('log-in', credentials)).status, 401);
    t.is((await there.ask('log-in', { ...credentials, password: next })).status, 200);
  },
);

testAccounts('an account keeps its twenty newest sessions', async (t, { app, browser, database, kind }) => {
  const here = browser();
  await here.signUp(credentials.email);
  const token = String((await here.ask('playground-token', {})).json.token);
  t.is(await statusWith(app, token), 200);
  const other = browser();
  await other.signUp('bob@home.example');
  const past = (seconds: number) => {
    const date = new Date(Date.now() - 1000 * seconds);
    return kind === 'postgres' ? date : date.toISOString();
  };
  // That of `here` is the oldest.
  await sql`update session set "createdAt" = ${past(100)}`.execute(database);
  const add = (index: number) =>
    sql`insert into session ("id", "expiresAt", "token", "createdAt", "updatedAt", "userId")
    select ${`s${index}`}, "expiresAt", ${`t${index}`}, ${past(index)}, "updatedAt", "userId" from session
    where "userId" = (select "id" from "user" where "email" = ${credentials.email}) limit 1`.execute(
      database,
    );
  for (let index = 1; index <= 24; index++) await add(index);
  const there = browser();
  t.is((await there.ask('log-in', credentials)).status, 200);
  const { rows } = await sql<{ id: string }>`select "id" from session where "userId" =
    (select "id" from "user" where "email" = ${credentials.email})`.execute(database);
  t.is(rows.length, 20);
  const kept = rows.map(({ id }) => id).filter((id) => /^s\d+$/.test(id));
  t.deepEqual(new Set(kept), new Set(Array.from({ length: 19 }, (_, index) => `s${index + 1}`)));
  t.is((await here.ask('session')).json.user, null);
  t.is(await statusWith(app, token), 401, 'what an ended session held ends with it');
  t.truthy((await there.ask('session')).json.user);
  t.truthy((await other.ask('session')).json.user);
});

testAccounts(
  'a new password revokes every token of the account on request',
  async (t, { app, browser, tokens }) => {
    const { ask, signUp } = browser();
    await signUp(credentials.email);
    const bob = browser();
    await bob.signUp('bob@home.example');
    const make = async (maker: typeof ask, name: string) =>
      String((await maker('tokens', { name, scopes: ['analyze:emotion'] })).json.token);
    const own = [await make(ask, 'one'), await make(ask, 'two')];
    const request = { name: 'cli', scopes: ['analyze:emotion'], expiresAt: null, purpose: null };
    const others = [await make(bob.ask, 'one'), (await tokens.create(request)).token];
    const statuses = (all: readonly string[]) => Promise.all(all.map((token) => statusWith(app, token)));
    const change = (from: string, to: string, more: object) =>
      ask('password', { current_password: from, new_password: to, ...more });
    t.is((await change(password, 'second password', {})).status, 200);
    t.is((await change('second password', 'third password', { revoke_tokens: false })).status, 200);
    t.is((await change('not the password', 'fourth password', { revoke_tokens: true })).status, 401);
    t.deepEqual(await statuses(own), [200, 200]);
    t.is((await change('third password', 'fourth password', { revoke_tokens: true })).status, 200);
    t.deepEqual(await statuses(own), [401, 401]);
    t.deepEqual(await statuses(others), [200, 200]);
    const listed = (await ask('tokens')).json.tokens as { revoked_at: string | null; origin: string }[];
    t.deepEqual(
      listed.filter(({ origin }) => origin === 'account').map(({ revoked_at: at }) => at !== null),
      [true, true],
    );
    t.like((await change('fourth password', password, { revoke_tokens: 'yes' })).json, {
      detail: [{ loc: ['body', 'revoke_tokens'], type: 'value_error.revoke_tokens' }],
    });
  },
);

testAccounts(
  'deleting an account deletes its password, tokens and sessions',
  async (t, { app, browser, database }) => {
    const here = browser();
    const there = browser();
    await here.signUp(credentials.email);
    await there.ask('log-in', credentials);
    const made = await here.ask('tokens', { name: 'ci', scopes: ['analyze:emotion'] });
    const token = String(made.json.token);
    t.is(await statusWith(app, token), 200);
    t.is((await here.ask('remove', { password: 'not this one' })).status, 401);
    t.is(await statusWith(app, token), 200);
    t.is((await here.ask('remove', { password })).status, 200);
    t.is(await statusWith(app, token), 401);
    t.is(here.cookies().size, 0);
    t.is((await there.ask('session')).json.user, null);
    for (const table of ['tokens', 'user', 'session', 'account'] as const) {
      const rows = await database
        .selectFrom(table as 'tokens')
        .selectAll()
        .execute();
      t.deepEqual(rows, [], table);
    }
    t.is((await browser().ask('log-in', credentials)).status, 401);
    t.is((await browser().signUp(credentials.email)).status, 200);
  },
);

const missing = (field: string) => ({
  loc: ['body', field],
  msg: 'field required',
  type: 'value_error.missing',
});
const fault = (field: string, expected: string) => ({
  loc: ['body', field],
  msg: `Expected ${expected} for \`${field}\`, got something else`,
  type: `value_error.${field}`,
});

const faults: readonly [path: string, body: object, items: readonly object[]][] = [
  ['sign-up', {}, [missing('email'), missing('password')]],
  [
    'sign-up',
    { email: 'ada', password: 'short' },
    [fault('email', 'an e-mail address'), fault('password', '10 to 128 characters')],
  ],
  [
    'log-in',
    { email: 7, password: '' },
    [fault('email', 'an e-mail address'), fault('password', 'a password')],
  ],
  [
    'password',
    { current_password: password, new_password: 'x'.repeat(129) },
    [fault('new_password', '10 to 128 characters')],
  ],
  ['remove', {}, [missing('password')]],
];

test('an invalid account request is a 422 with the expected value of each field', async (t) => {
  const { browser } = await startAccountApp(t);
  const { ask, signUp } = browser();
  await signUp(credentials.email);
  for (const [path, body, items] of faults) {
    const { status, json } = await ask(path, body);
    t.is(status, 422);
    t.deepEqual(json.detail, items, path);
  }
});

testAccounts('without its database every account route is a 503', async (t, { browser, database }) => {
  const { ask, signUp, cookies } = browser();
  await signUp(credentials.email);
  t.is(cookies().size, 1);
  await database.destroy();
  const calls: [string, object?][] = [
    ['session'],
    ['tokens'],
    ['log-in', credentials],
    ['sign-up', { ...credentials, email: 'b@home.example' }],
    ['log-out', {}],
    ['remove', { password }],
    ['playground-token', {}],
  ];
  for (const [path, body] of calls) {
    const { status, json, headers } = await ask(path, body);
    t.deepEqual([status, json.code, headers['retry-after']], [503, 'storage_unavailable', '1'], path);
  }
});

test('postgres: an outage is 503 and ends with it', async (t) => {
  const server = startServer();
  const { browser } = await startAccountApp(t, { kind: 'postgres', url: await server.makeUrl() });
  const { ask, signUp } = browser();
  await signUp(credentials.email);
  server.stop();
  t.is((await ask('session')).json.code, 'storage_unavailable');
  t.is((await ask('log-in', credentials)).json.code, 'storage_unavailable');
  server.start();
  t.truthy((await ask('session')).json.user);
});
