import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { createTokens } from '../../src/service/auth/tokens.ts';
import { openDatabase } from '../../src/service/database.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';

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
    /^tok_\w{12} "ci" for analyze:emotion and analyze:cognitive, expires 2\d\d\d-\S+Z; not shown again\n$/,
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
