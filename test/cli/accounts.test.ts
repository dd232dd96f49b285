/** `undertone token` and `undertone user`. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { createTokens } from '../../src/service/auth/tokens.ts';
import { openDatabase } from '../../src/service/database.ts';
import type { DatabaseKind } from '../../src/service/migrations.ts';
import { startAccountApp, statusWith } from '../support/account.ts';
import { type Ended, runCli } from '../support/cli.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { until } from '../support/wait.ts';

const withData = () => {
  const folder = join(makeFolder(), 'data');
  return { folder, env: { UNDERTONE_DATA_DIR: folder } };
};

test('the token alone goes to standard output', async (t) => {
  const { env } = withData();
  const args = ['token', 'create', '--name', 'ci', '--scopes', 'analyze:emotion, analyze:cognitive'];
  const { code, stdout, stderr } = await runCli([...args, '--expires', '90d'], { env });
  t.is(code, 0);
  t.regex(stdout, /^ut_[0-9A-Za-z]{46}\n$/);
  t.regex(
    stderr,
    /^tok_\w{12} "ci" for analyze:emotion and analyze:cognitive, expires 2\d\d\d-\S+Z; not shown again\nstored in \S+undertone\.db\n$/,
  );
});

test('a running process takes a new token within a second and drops a revoked one within five', async (t) => {
  const { folder, env } = withData();
  const database = await openDatabase(`file:${join(folder, 'undertone.db')}`);
  const server = createTokens({ database, staticToken: null });
  const made = await runCli(['token', 'create', '--name', 'ci', '--scopes', 'analyze:emotion'], { env });
  const token = made.stdout.trim();
  const bearer = await server.verify(token);
  t.is(bearer?.name, 'ci');
  t.deepEqual(bearer?.scopes, ['analyze:emotion']);

  const { code, stderr } = await runCli(['token', 'revoke', 'ci'], { env });
  const revoked = performance.now();
  t.is(code, 0);
  t.is(stderr, `revoked ${bearer?.id} "ci"\n`);
  while ((await server.verify(token)) !== null && performance.now() - revoked < 5000) await sleep(50);
  t.is(await server.verify(token), null);
  await database.destroy();
});

test('lists tokens and their states, and no token', async (t) => {
  const { folder, env } = withData();
  const scopes = ['--scopes', 'analyze:cognitive'];
  const one = await runCli(['token', 'create', '--name', 'one', ...scopes, '--expires', '1s'], { env });
  await runCli(['token', 'create', '--name', 'two', ...scopes, '--purpose', 'film archive'], { env });
  await runCli(['token', 'revoke', 'two'], { env });
  await sleep(1000);
  const { code, stdout } = await runCli(['token', 'list'], { env });
  t.is(code, 0);
  const [heading, ...rows] = stdout.trimEnd().split('\n');
  t.regex(heading as string, /^ID +NAME +OWNER +TOKEN +SCOPES +CREATED +EXPIRES +USED +STATE +PURPOSE$/);
  t.regex(
    rows[0] as string,
    /^tok_\w+ +one +- +ut_\w{4}\.\.\. +analyze:cognitive +\S+Z +\S+Z +never +expired +-$/,
  );
  t.regex(
    rows[1] as string,
    /^tok_\w+ +two +- +ut_\w{4}\.\.\. +analyze:cognitive +\S+Z +never +never +revoked +film archive$/,
  );
  t.is(rows.length, 2);
  t.false(stdout.includes(one.stdout.trim().slice(7)));
  t.is((fs.statSync(folder).mode & 0o777).toString(8), '700');
});

const create = ['token', 'create', '--name', 'x'];
const misuses: readonly [args: string[], code: number, message: string][] = [
  [
    [...create, '--scopes', 'admin'],
    2,
    'Expected scopes of analyze:emotion, analyze:cognitive, embed for `scopes`, got "admin"\n',
  ],
  [
    [...create, '--scopes', 'analyze:emotion,'.repeat(5000)],
    2,
    'Expected at most 3 scopes for `scopes`, got 5001\n',
  ],
  [
    [...create, '--scopes', 'analyze:emotion', '--expires', '90'],
    2,
    'Expected a duration such as 12h or 90d for `--expires`, got "90"\n',
  ],
  [
    [...create, '--scopes', 'analyze:emotion', '--purpose', ''],
    2,
    'Expected 1 to 200 visible characters on one line for `purpose`, got ""\n',
  ],
  [create, 2, "error: required option '--scopes <scopes>' not specified\n(--help says more)\n"],
  [['token', 'revoke', 'x'], 1, 'Expected the id or name of a live token for `token`, got "x"\n'],
];

for (const [args, expected, message] of misuses) {
  test(`${args.join(' ').slice(0, 100)} ends with ${expected}`, async (t) => {
    const { code, stdout, stderr } = await runCli(args, withData());
    t.deepEqual({ code, stdout, stderr }, { code: expected, stdout: '', stderr: message });
  });
}

test('an invalid database is a one-line error', async (t) => {
  const { folder, env } = withData();
  fs.mkdirSync(folder);
  fs.writeFileSync(join(folder, 'undertone.db'), 'no database'.repeat(1000));
  const { code, stdout, stderr } = await runCli(['token', 'list'], { env });
  t.is(code, 1);
  t.is(stdout, '');
  t.regex(stderr, /^The database is unavailable: .*not a database: \/\S+\n$/);
});

test('wrong settings end with 2', async (t) => {
  const { code, stderr } = await runCli(['token', 'list'], { env: { UNDERTONE_PORT: 'x' } });
  t.is(code, 2);
  t.is(stderr, 'Expected an integer from 0 to 65535 for `UNDERTONE_PORT`, got "x"\n');
});

const password = 'correct horse battery';

function createUser(url: string, args: readonly string[], input = `${password}\n`): Promise<Ended> {
  const env = { UNDERTONE_DATABASE_URL: url, UNDERTONE_SIGNUP: 'closed' };
  return runCli(['user', 'create', ...args], { env, input });
}

for (const kind of databaseKinds as readonly DatabaseKind[]) {
  test(`${kind}: creates accounts that can log in; the first and --admin ones are administrators`, async (t) => {
    const url = await makeDatabaseUrl(kind);
    t.deepEqual(await createUser(url, ['--email', 'ada@home.example']), {
      code: 0,
      stdout: '',
      stderr: 'made ada@home.example, administrator\n',
    });
    t.is((await createUser(url, ['--email', 'bob@home.example'])).stderr, 'made bob@home.example\n');
    t.is(
      (await createUser(url, ['--email', 'eve@home.example', '--admin'])).stderr,
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
  t.is((await createUser(url, ['--email', 'ada@home.example'], `${password}\r\nmore\n`)).code, 0);
  const { browser } = await startAccountApp(t, { url });
  t.is((await browser().ask('log-in', { email: 'ada@home.example', password })).status, 200);
});

const userMisuses: readonly [args: string[], input: string, code: number, message: string][] = [
  [['--email', 'ada'], '', 2, 'Expected an e-mail address for `--email`, got "ada"\n'],
  [['--email', 'a@b.example'], 'short\n', 2, 'Expected 10 to 128 characters for `password`, got 5\n'],
  [['--email', 'a@b.example'], '', 2, 'Expected 10 to 128 characters for `password`, got 0\n'],
  [[], '', 2, "error: required option '--email <address>' not specified\n(--help says more)\n"],
];

for (const [args, input, code, stderr] of userMisuses) {
  test(`user create ${args.join(' ')} with ${JSON.stringify(input)} ends with ${code}`, async (t) => {
    const url = `file:${join(makeFolder(), 'undertone.db')}`;
    t.deepEqual(await createUser(url, args, input), { code, stdout: '', stderr });
  });
}

test('an address with an account is an error', async (t) => {
  const url = await makeDatabaseUrl('sqlite');
  await createUser(url, ['--email', 'ada@home.example']);
  const { code, stderr } = await createUser(url, ['--email', 'Ada@home.example']);
  t.is(code, 2);
  t.is(stderr, 'Expected an address without an account for `email`, got one that has an account\n');
});
