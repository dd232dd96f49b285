import test from 'ava';
import { startAccountApp, statusWith, testAccounts } from '../../support/account.ts';

type Listed = Readonly<Record<string, unknown>>;

const scopes = ['analyze:emotion', 'analyze:cognitive'];

testAccounts(
  'a token is shown once, works, is listed without itself, and is refused at once when revoked',
  async (t, { app, browser }) => {
    const { ask, signUp } = browser();
    await signUp('ada@home.example');
    const before = Date.now();
    const purpose = 'search in a film archive';
    const made = await ask('tokens', {
      name: 'ci',
      scopes: ['analyze:emotion'],
      expires_in_days: 90,
      purpose,
    });
    t.is(made.status, 200);
    const { token, ...shown } = made.json;
    t.regex(String(token), /^ut_\w{46}$/);
    t.is(await statusWith(app, String(token)), 200);
    const { json, body } = await ask('tokens');
    const [listed] = json.tokens as Listed[];
    t.deepEqual({ ...listed, last_used_at: null }, shown);
    t.like(listed, { name: 'ci', purpose, scopes: ['analyze:emotion'], origin: 'account', revoked_at: null });
    t.is(listed?.prefix, String(token).slice(0, 7));
    t.false(body.includes(String(token).slice(7)));
    const days = (Date.parse(String(listed?.expires_at)) - before) / 86_400_000;
    t.true(days >= 90 && days < 90.01);
    t.is((await ask(`tokens/${listed?.id}/revoke`, {})).status, 200);
    t.is(await statusWith(app, String(token)), 401);
    t.truthy(((await ask('tokens')).json.tokens as Listed[])[0]?.revoked_at);
    t.is((await ask(`tokens/${listed?.id}/revoke`, {})).status, 404);
  },
);

testAccounts("another account's token can neither be listed nor revoked", async (t, { app, browser }) => {
  const ada = browser();
  const bob = browser();
  const carol = browser();
  await ada.signUp('ada@home.example');
  await bob.signUp('bob@home.example');
  await carol.signUp('carol@home.example');
  const { token, id } = (await bob.ask('tokens', { name: 'ci', scopes })).json;
  for (const other of [ada, carol]) {
    t.deepEqual((await other.ask('tokens')).json.tokens, []);
    const { status, json } = await other.ask(`tokens/${id}/revoke`, {});
    t.deepEqual([status, json.detail], [404, 'Expected the id of a live token of yours, got another']);
    t.is((await other.ask(`tokens/ci/revoke`, {})).status, 404);
    t.is((await other.ask('tokens', { name: 'ci', scopes })).status, 200, 'names are of one account');
  }
  t.is(await statusWith(app, String(token)), 200);
});

testAccounts(
  'the administrator lists and revokes tokens of the command line',
  async (t, { app, browser, tokens }) => {
    const ada = browser();
    const bob = browser();
    await ada.signUp('ada@home.example');
    await bob.signUp('bob@home.example');
    const { token, record } = await tokens.create({ name: 'deploy', scopes, expiresAt: null, purpose: null });
    t.is(await statusWith(app, token), 200);
    t.deepEqual((await bob.ask('tokens')).json.tokens, []);
    t.is((await bob.ask(`tokens/${record.id}/revoke`, {})).status, 404);
    t.like((await ada.ask('tokens')).json.tokens, [{ name: 'deploy', origin: 'command_line' }]);
    t.is((await ada.ask(`tokens/${record.id}/revoke`, {})).status, 200);
    t.is(await statusWith(app, token), 401);
  },
);

testAccounts(
  'the playground gets a token with every scope for a quarter of an hour, unlisted',
  async (t, { app, browser }) => {
    const { ask, signUp } = browser();
    t.like((await ask('playground-token', {})).json, { code: 'unauthenticated' });
    await signUp('ada@home.example');
    const { status, json } = await ask('playground-token', {});
    t.is(status, 200);
    const { token, expires_at: end } = json;
    const minutes = (Date.parse(String(end)) - Date.now()) / 60_000;
    t.true(minutes > 14 && minutes <= 15);
    t.is(await statusWith(app, String(token)), 200);
    t.is((await ask('playground-token', {})).status, 200, 'another tab gets another');
    t.deepEqual((await ask('tokens')).json.tokens, []);
    await ask('log-out', {});
    t.is(await statusWith(app, String(token)), 401);
  },
);

const refusals: readonly [body: object, field: string, msg: string][] = [
  [
    { name: 'ci', scopes: [...scopes, 'analyze:emotion'] },
    'scopes',
    'Expected scopes of analyze:emotion, analyze:cognitive for `scopes`, got something else',
  ],
  [
    { name: 'ci', scopes, expires_in_days: 0 },
    'expires_in_days',
    'Expected whole days from 1 to 3650, or null for `expires_in_days`, got something else',
  ],
  [
    { name: 'ci', scopes, purpose: 'two\nlines' },
    'purpose',
    'Expected 1 to 200 visible characters on one line for `purpose`, got "two\\nlines"',
  ],
  [{ name: 'taken', scopes }, 'name', 'Expected an unused name for `name`, got "taken"'],
];

test('an invalid token request is a 422 with the reason', async (t) => {
  const { browser } = await startAccountApp(t);
  const { ask, signUp } = browser();
  await signUp('ada@home.example');
  await ask('tokens', { name: 'taken', scopes });
  for (const [body, field, msg] of refusals) {
    const { status, json } = await ask('tokens', body);
    t.is(status, 422);
    const type = `value_error.${field}${msg.includes('taken') ? '.taken' : ''}`;
    t.deepEqual(json.detail, [{ loc: ['body', field], msg, type }]);
  }
});

test('without a session every token route is 401', async (t) => {
  const { browser } = await startAccountApp(t);
  const { ask } = browser();
  for (const [path, body] of [
    ['tokens'],
    ['tokens', { name: 'ci', scopes }],
    ['tokens/tok_x/revoke', {}],
    ['password', {}],
    ['remove', {}],
  ] as [string, object?][]) {
    const { status, json } = await ask(path, body);
    t.deepEqual([status, json.code], [401, 'unauthenticated'], path);
  }
  t.deepEqual((await ask('log-out', {})).status, 200);
});
