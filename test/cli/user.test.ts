import { join } from 'node:path';
import test from 'ava';
import type { DatabaseKind } from '../../src/service/migrations.ts';
import { startAccountApp, statusWith } from '../support/account.ts';
import { type Ended, runCli } from '../support/cli.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { until } from '../support/wait.ts';

const password = 'correct horse battery';

function create(url: string, args: readonly string[], input = `${password}\n`): Promise<Ended> {
  const env = { UNDERTONE_DATABASE_URL: url, UNDERTONE_SIGNUP: 'closed' };
  return runCli(['user', 'create', ...args], { env, input });
}

for (const kind of databaseKinds as readonly DatabaseKind[]) {
  test(`${kind}: creates accounts that can log in; the first and --admin ones are administrators`, async (t) => {
    const url = await makeDatabaseUrl(kind);
    t.deepEqual(await create(url, ['--email', 'ada@home.example']), {
      code: 0,
      stdout: '',
      stderr: 'made ada@home.example, administrator\n',
    });
    t.is((await create(url, ['--email', 'bob@home.example'])).stderr, 'made bob@home.example\n');
    t.is(
      (await create(url, ['--email', 'eve@home.example', '--admin'])).stderr,
      'made eve@home.example, administrator\n',
    );
    const { browser, database } = await startAccountApp(t, {
      kind,
      url,
      env: { UNDERTONE_SIGNUP: 'closed' },
    });
    t.deepEqual(
      await database
        .selectFrom('session' as 'user')
        .select('id')
        .execute(),
      [],
    );
    for (const [email, administrator] of [
      ['ada@home.example', true],
      ['bob@home.example', false],
      ['eve@home.example', true],
    ] as const) {
      const { json } = await browser().ask('log-in', { email, password });
      t.deepEqual(json.user, { email, administrator });
    }
  });
}

for (const kind of databaseKinds) {
  test(`${kind}: sets a password, ends every session and revokes tokens with --revoke-tokens`, async (t) => {
    const url = await makeDatabaseUrl(kind);
    const { app, browser, tokens } = await startAccountApp(t, { kind, url });
    const email = 'ada@home.example';
    const { ask, signUp } = browser();
    await signUp(email);
    const scopes = ['analyze:emotion'];
    const own = String((await ask('tokens', { name: 'ci', scopes })).json.token);
    const { token: other } = await tokens.create({ name: 'ci', scopes, expiresAt: null, purpose: null });
    const set = (args: readonly string[], next: string) =>
      runCli(['user', 'password', '--email', 'Ada@home.example', ...args], {
        env: { UNDERTONE_DATABASE_URL: url },
        input: `${next}\n`,
      });
    t.deepEqual(await set([], 'a second password'), {
      code: 0,
      stdout: '',
      stderr: 'set the password of Ada@home.example\n',
    });
    t.is((await ask('session')).json.user, null);
    t.is((await browser().ask('log-in', { email, password })).status, 401);
    t.is((await browser().ask('log-in', { email, password: 'a second password' })).status, 200);
    t.is(await statusWith(app, own), 200);
    const revoked = await set(['--revoke-tokens'], 'a third password');
    t.is(revoked.stderr, 'set the password of Ada@home.example, revoked its tokens\n');
    await until(async () => (await statusWith(app, own)) === 401);
    t.is(await statusWith(app, other), 200);
  });
}

test('the password of an address without an account is not set', async (t) => {
  const url = await makeDatabaseUrl('sqlite');
  const env = { UNDERTONE_DATABASE_URL: url };
  const args = ['user', 'password', '--email', 'nobody@home.example'];
  t.deepEqual(await runCli(args, { env, input: `${password}\n` }), {
    code: 2,
    stdout: '',
    stderr: 'Expected the address of an account for `--email`, got "nobody@home.example"\n',
  });
  t.is(
    (await runCli(args, { env, input: 'short\n' })).stderr,
    'Expected 10 to 128 characters for `password`, got 5\n',
  );
});

test('only the first line of standard input is the password', async (t) => {
  const url = await makeDatabaseUrl('sqlite');
  t.is((await create(url, ['--email', 'ada@home.example'], `${password}\r\nmore\n`)).code, 0);
  const { browser } = await startAccountApp(t, { url });
  t.is((await browser().ask('log-in', { email: 'ada@home.example', password })).status, 200);
});

const misuses: readonly [args: string[], input: string, code: number, message: string][] = [
  [['--email', 'ada'], '', 2, 'Expected an e-mail address for `--email`, got "ada"\n'],
  [['--email', 'a@b.example'], 'short\n', 2, 'Expected 10 to 128 characters for `password`, got 5\n'],
  [['--email', 'a@b.example'], '', 2, 'Expected 10 to 128 characters for `password`, got 0\n'],
  [[], '', 2, "error: required option '--email <address>' not specified\n(--help says more)\n"],
];

for (const [args, input, code, stderr] of misuses) {
  test(`user create ${args.join(' ')} with ${JSON.stringify(input)} ends with ${code}`, async (t) => {
    const url = `file:${join(makeFolder(), 'undertone.db')}`;
    t.deepEqual(await create(url, args, input), { code, stdout: '', stderr });
  });
}

test('an address with an account is an error', async (t) => {
  const url = await makeDatabaseUrl('sqlite');
  await create(url, ['--email', 'ada@home.example']);
  const { code, stderr } = await create(url, ['--email', 'Ada@home.example']);
  t.is(code, 2);
  t.is(stderr, 'Expected an address without an account for `email`, got one that has an account\n');
});
