import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { sql } from 'kysely';
import { openStorage } from '../../src/accounts/storage.ts';
import { Failure } from '../../src/errors.ts';
import { makeFolder } from '../support/folder.ts';

const modeOf = (path: string) => (fs.statSync(path).mode & 0o777).toString(8);

const opener = `
  import { openStorage } from './src/accounts/storage.ts';
  import { createTokens } from './src/accounts/tokens.ts';
  const [url, name] = process.argv.slice(1);
  process.stdout.write('ready');
  await new Promise((resolve) => process.stdin.once('end', resolve).resume());
  const database = await openStorage(url);
  await createTokens({ database, staticToken: null }).create({ name, scopes: ['analyze:emotion'], expiresAt: null });
  await database.destroy();
`;

test('makes folder and files for their owner alone, in write-ahead mode', async (t) => {
  const path = join(makeFolder(), 'data', 'undertone.db');
  const database = await openStorage(`file:${path}`);
  await sql`create table more (x integer)`.execute(database);
  t.is(modeOf(join(path, '..')), '700');
  for (const suffix of ['', '-wal', '-shm']) t.is(modeOf(path + suffix), '600', suffix);
  const mode = await sql<{ journal_mode: string }>`pragma journal_mode`.execute(database);
  t.is(mode.rows[0]?.journal_mode, 'wal');
  await database.destroy();
});

test('closes a file that was open to others', async (t) => {
  const path = join(makeFolder(), 'undertone.db');
  fs.writeFileSync(path, '', { mode: 0o644 });
  await (await openStorage(`file:${path}`)).destroy();
  t.is(modeOf(path), '600');
});

test('takes an absolute file URL too', async (t) => {
  const path = join(makeFolder(), 'a b.db');
  await (await openStorage(`file://${path.replace(' ', '%20')}`)).destroy();
  t.true(fs.existsSync(path));
});

test('is brought up to date once by six processes that start together', async (t) => {
  const url = `file:${join(makeFolder(), 'undertone.db')}`;
  const children = Array.from({ length: 6 }, (_, index) => {
    const args = ['--import=tsx', '--input-type=module', '--eval', opener, url, `n${index}`];
    const child = spawn(process.execPath, args);
    child.stderr.on('data', (data) => t.log(String(data)));
    return child;
  });
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  for (const child of children) child.stdin.end();
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'close'))[0]));
  t.deepEqual(codes, [0, 0, 0, 0, 0, 0]);
  const database = await openStorage(url);
  t.is((await database.selectFrom('tokens').selectAll().execute()).length, 6);
  const done = await sql<{ n: number }>`select count(*) as n from kysely_migration`.execute(database);
  t.is(done.rows[0]?.n, 1);
  await database.destroy();
});

for (const [url, cause] of [
  ['postgres://user:secret@host/db', 'Expected file:PATH for `UNDERTONE_DATABASE_URL`, got postgres:'],
  ['file:', 'Expected file:PATH for `UNDERTONE_DATABASE_URL`, got file:'],
  ['undertone.db', 'Expected file:PATH for `UNDERTONE_DATABASE_URL`, got no scheme'],
] as const) {
  test(`refuses ${url}`, async (t) => {
    const failure = await t.throwsAsync<Failure>(openStorage(url), { instanceOf: Failure });
    t.is(failure.code, 'storage_unavailable');
    t.is((failure.cause as Error).message, cause);
  });
}

test('a file that is no database is storage_unavailable, and its path is not told', async (t) => {
  const path = join(makeFolder(), 'undertone.db');
  fs.writeFileSync(path, 'not a database at all'.repeat(200));
  const failure = await t.throwsAsync<Failure>(openStorage(`file:${path}`), { instanceOf: Failure });
  t.is(failure.code, 'storage_unavailable');
  t.is(failure.message, 'The database cannot be used');
});
