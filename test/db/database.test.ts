import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { getMigrations } from 'better-auth/db/migration';
import { sql } from 'kysely';
import Libsql from 'libsql';
import { openDatabase } from '../../src/service/database.ts';
import { ServiceError } from '../../src/service/errors.ts';
import { openStoredResults } from '../../src/service/jobs/stored-results.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { makeToken, startServer } from '../support/server.ts';

const modeOf = (path: string) => (fs.statSync(path).mode & 0o777).toString(8);

const opener = `
  import { openDatabase } from './src/service/database.ts';
  import { createTokens } from './src/service/auth/tokens.ts';
  const [url, name] = process.argv.slice(1);
  process.stdout.write('ready');
  await new Promise((resolve) => process.stdin.once('end', resolve).resume());
  const database = await openDatabase(url);
  await createTokens({ database, staticToken: null }).create({ name, scopes: ['analyze:emotion'], expiresAt: null, purpose: null });
  await database.destroy();
`;

test('makes folder and files for their owner alone, in write-ahead mode', async (t) => {
  const path = join(makeFolder(), 'data', 'undertone.db');
  const database = await openDatabase(`file:${path}`);
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
  await (await openDatabase(`file:${path}`)).destroy();
  t.is(modeOf(path), '600');
});

const writer = `
  import Libsql from 'libsql';
  const database = new Libsql(process.argv[1]);
  database.exec('create table theirs (x integer)');
  database.close();
`;

test('a second connection of the process leaves the locks of the first: what other processes write is read', async (t) => {
  const path = join(makeFolder(), 'undertone.db');
  const [first, second] = [await openDatabase(`file:${path}`), await openDatabase(`file:${path}`)];
  const child = spawn(process.execPath, ['--input-type=module', '--eval', writer, path]);
  t.is((await once(child, 'close'))[0], 0);
  t.true(fs.existsSync(`${path}-wal`));
  for (const database of [first, second]) {
    t.deepEqual((await sql`select x from theirs`.execute(database)).rows, []);
    await database.destroy();
  }
});

test('takes an absolute file URL too', async (t) => {
  const path = join(makeFolder(), 'a b.db');
  await (await openDatabase(`file://${path.replace(' ', '%20')}`)).destroy();
  t.true(fs.existsSync(path));
});

for (const kind of databaseKinds) {
  test(`${kind}: is brought up to date once by six processes that start together`, async (t) => {
    const url = await makeDatabaseUrl(kind);
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
    const database = await openDatabase(url);
    t.is((await database.selectFrom('tokens').selectAll().execute()).length, 6);
    const done = await sql<{ name: string }>`select name from kysely_migration`.execute(database);
    t.deepEqual(
      done.rows.map(({ name }) => name),
      ['0001-schema', '0002-job-bytes', '0003-job-body-last', '0004-job-pieces'],
    );
    await database.destroy();
  });

  test(`${kind}: results that an earlier release stored are moved into pieces, errors stay`, async (t) => {
    const url = await makeDatabaseUrl(kind);
    const earlier = await openDatabase(url);
    await sql`drop table job_pieces`.execute(earlier);
    await sql`delete from kysely_migration where name = '0004-job-pieces'`.execute(earlier);
    const result = JSON.stringify({ text: 'é'.repeat(200_000) });
    const ended = {
      holder: 'token:1',
      owner: null,
      created_at: 0,
      expires_at: 0,
      idempotency_key: null,
      digest: null,
    };
    const rows = [
      { ...ended, id: 'job_done', outcome: 'done', body: result, bytes: Buffer.byteLength(result) },
      { ...ended, id: 'job_failed', outcome: 'failed', body: '{"code":"malformed"}', bytes: 20 },
    ] as const;
    await earlier.insertInto('jobs').values(rows).execute();
    await earlier.destroy();
    const database = await openDatabase(url);
    const results = openStoredResults(database, url);
    const pieces: Uint8Array[] = [];
    for await (const piece of results.pieces(rows[0])) pieces.push(piece);
    t.is(pieces.length, 4);
    t.is(Buffer.concat(pieces).toString(), result);
    const bodies = await database.selectFrom('jobs').select('body').orderBy('id').execute();
    t.deepEqual(bodies, [{ body: null }, { body: '{"code":"malformed"}' }]);
    await database.deleteFrom('jobs').execute();
    t.deepEqual(await database.selectFrom('job_pieces').selectAll().execute(), []);
    await results.close();
    await database.destroy();
  });

  test(`${kind}: the tables of users are those that better-auth would make`, async (t) => {
    const database = await openDatabase(await makeDatabaseUrl(kind));
    const options = { database: { db: database, type: kind }, emailAndPassword: { enabled: true } };
    const { toBeCreated, toBeAdded } = await getMigrations(options);
    t.deepEqual([toBeCreated, toBeAdded], [[], []]);
    await database.destroy();
  });
}

for (const [url, got] of [
  ['mysql://user:secret@host/db', 'mysql:'],
  ['postgres:', 'postgres:'],
  ['file:', 'file:'],
  ['undertone.db', 'no scheme'],
] as const) {
  test(`refuses ${url}`, async (t) => {
    const failure = await t.throwsAsync<ServiceError>(openDatabase(url), { instanceOf: ServiceError });
    t.is(failure.code, 'storage_unavailable');
    const expected = 'file:PATH or postgres://USER@HOST/DATABASE';
    t.is((failure.cause as Error).message, `Expected ${expected} for \`UNDERTONE_DATABASE_URL\`, got ${got}`);
  });
}

test('a file that is no database is storage_unavailable, without its path', async (t) => {
  const path = join(makeFolder(), 'undertone.db');
  fs.writeFileSync(path, 'not a database at all'.repeat(200));
  const failure = await t.throwsAsync<ServiceError>(openDatabase(`file:${path}`), {
    instanceOf: ServiceError,
  });
  t.is(failure.code, 'storage_unavailable');
  t.is(failure.message, 'The database is unavailable');
  t.is((failure.cause as Error).message, `file is not a database: ${path}`);
});

const rows = (database: Libsql.Database) => database.prepare('select * from more').all().length;

test('while another process writes, a statement waits and the process goes on', async (t) => {
  const path = join(makeFolder(), 'undertone.db');
  const database = await openDatabase(`file:${path}`);
  await sql`create table more (x integer)`.execute(database);
  const other = new Libsql(path);
  other.exec('begin immediate');
  let ticks = 0;
  const ticking = setInterval(() => {
    if (++ticks === 5) other.exec('commit');
  }, 10);
  await sql`insert into more values (1)`.execute(database);
  clearInterval(ticking);
  t.true(ticks >= 5, `${ticks}`);
  t.is(rows(other), 1);
  other.close();
  await database.destroy();
});

test('after a statement that timed out, later statements are executed', async (t) => {
  const path = join(makeFolder(), 'undertone.db');
  const database = await openDatabase(`file:${path}`);
  await sql`create table more (x integer)`.execute(database);
  const other = new Libsql(path);
  other.exec('begin immediate');
  await t.throwsAsync(sql`insert into more values (1)`.execute(database), { any: true, code: 'SQLITE_BUSY' });
  other.exec('commit');
  await sql`insert into more values (2)`.execute(database);
  t.is(rows(other), 1);
  other.exec('insert into more values (3)');
  other.close();
  await database.destroy();
});

test('the file of a stopped service is complete without its journal', async (t) => {
  const server = await startServer(t);
  makeToken(server, 'analyze:emotion');
  await server.stop('SIGTERM');
  const copy = join(makeFolder(), 'undertone.db');
  fs.copyFileSync(join(server.dataDir, 'undertone.db'), copy);
  const database = await openDatabase(`file:${copy}`);
  t.is((await database.selectFrom('tokens').selectAll().execute()).length, 1);
  await database.destroy();
});

test('a connection that breaks inside a transaction fails the transaction, and not the process', async (t) => {
  const database = await openDatabase(await makeDatabaseUrl('postgres'));
  const pid = sql<{ pid: number }>`select pg_backend_pid() as pid`;
  const broken = database.transaction().execute(async (held) => {
    const { rows } = await pid.execute(held);
    await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database);
    for (;;) await sql`select 1`.execute(held);
  });
  await t.throwsAsync(broken);
  t.is((await pid.execute(database)).rows.length, 1);
  await database.destroy();
});
