/** Tokens and usage of an account. */
import test from 'ava';
import { toneFile } from '../../../benchmarks/upload-body.ts';
import type { AccountUsageJson } from '../../../src/service/api/usage-schemas.ts';
import { startAccountApp, statusWith, testAccounts } from '../../support/account.ts';
import { type App, analysis } from '../../support/app.ts';
import type { Browser } from '../../support/browser.ts';
import { call } from '../../support/http.ts';
import { jobOf, startJobStack } from '../../support/jobs.ts';
import { connectStream } from '../../support/stream-client.ts';

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

async function usageOf(port: number, token: string) {
  const reply = await call(port, { path: '/v1/usage', headers: { Authorization: `Bearer ${token}` } });
  return { status: reply.status, json: JSON.parse(reply.body) };
}

const purpose = 'captions';

async function createToken({ ask }: Browser, name = 'ci'): Promise<string> {
  return String((await ask('tokens', { name, scopes, purpose })).json.token);
}

const analyze = ({ port }: App, token: string, task: object = { do: 'echo' }) =>
  call(port, analysis(task as Parameters<typeof analysis>[0], token));

/** Audio of an analysis by test/support/thread.ts. */
const audioSeconds = 1.5;

testAccounts('a token reads its own usage alone', async (t, { app, browser }) => {
  const ada = browser();
  await ada.signUp('ada@home.example');
  const token = await createToken(ada);
  const other = await createToken(ada, 'other');
  await analyze(app, token);
  await analyze(app, token, { do: 'refuse' });
  await analyze(app, other);
  const { status, json } = await usageOf(app.port, token);
  t.is(status, 200);
  t.like(json.token, { name: 'ci', purpose });
  t.like(json.days, [{ requests: 2, errors: 1, audio_s: audioSeconds }]);
  t.is((await usageOf(app.port, other)).json.days[0].requests, 1);
  t.is((await usageOf(app.port, 'ut_unknown')).status, 401);
});

testAccounts('an account sees its tokens, an administrator all', async (t, { app, browser, tokens }) => {
  const [ada, bob] = [browser(), browser()];
  await ada.signUp('ada@home.example');
  await bob.signUp('bob@home.example');
  await analyze(app, await createToken(bob));
  const playground = String((await bob.ask('playground-token', {})).json.token);
  await analyze(app, playground);
  await analyze(app, playground);
  const { token } = await tokens.create({
    name: 'deploy',
    scopes: ['analyze:emotion'],
    expiresAt: null,
    purpose: null,
  });
  await analyze(app, token);
  const listed = async ({ ask }: Browser) =>
    ((await ask('usage')).json as unknown as AccountUsageJson).tokens
      .map(({ name, purpose, email, days }) => [name, purpose, email, days[0]?.requests])
      .sort();
  const own = [
    ['ci', purpose, 'bob@home.example', 1],
    ['playground', null, 'bob@home.example', 2],
  ];
  t.deepEqual(await listed(bob), own);
  t.deepEqual(await listed(ada), [own[0], ['deploy', null, null, 1], own[1]]);
  t.is((await browser().ask('usage')).status, 401);
});

test.serial('the audio of a live session counts, and that of a job once it is analysed', async (t) => {
  const place = await startJobStack(t);
  const { port, token } = place.server;
  const usage = async () => (await usageOf(port, token)).json;
  const session = await connectStream(port, { token });
  session.send({ type: 'session.configure', encoding: 's16le', sample_rate_hz: 16_000, channels: 1 });
  session.socket.send(Buffer.alloc(64_000));
  session.send({ type: 'session.end' });
  await session.closed;
  t.like(await usage(), {
    token: { id: 'static', name: 'UNDERTONE_TOKEN', purpose: null },
    days: [{ requests: 1, errors: 0, audio_s: 2 }],
  });
  const job = jobOf(await place.upload([{ name: 'audio', bytes: toneFile(1.25) }]));
  const worker = await place.startWorker();
  await place.ended(job.id);
  await worker.stop('SIGTERM');
  t.is((await usage()).days[0].audio_s, 3.25);
});
