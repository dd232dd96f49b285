/** The database: both kinds, rows whose time is over, writes that fail. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { getMigrations } from 'better-auth/db/migration';
import { sql } from 'kysely';
import Libsql from 'libsql';
import pino from 'pino';
import { createTokens } from '../../src/service/auth/tokens.ts';
import { createUsageCounts } from '../../src/service/auth/usage.ts';
import {
  createWriteFailures,
  type Database,
  deleteExpired,
  keepDeletingExpired,
  openDatabase,
} from '../../src/service/database.ts';
import { ServiceError } from '../../src/service/errors.ts';
import { createMetrics } from '../../src/service/http/metrics.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { openJobService } from '../support/job-service.ts';
import { makeToken, startServer } from '../support/server.ts';
import { until } from '../support/wait.ts';

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
      ['0001-schema'],
    );
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

test.serial('while another process writes, a statement waits and the process goes on', async (t) => {
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

test.serial('after a statement that timed out, later statements are executed', async (t) => {
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

// Rows whose time is over leave the database, whether jobs are turned on or not.

const noon = Date.parse('2030-01-01T12:00:00Z');
const dayMs = 86_400_000;

const addJob = (database: Database, id: string, expiresAt: number) =>
  database
    .insertInto('jobs')
    .values({
      id,
      holder: 'token:1',
      owner: null,
      created_at: 1,
      expires_at: expiresAt,
      idempotency_key: null,
      digest: null,
    })
    .execute();

const jobsIn = async (database: Database) =>
  (await database.selectFrom('jobs').select('id').orderBy('id').execute()).map(({ id }) => id);

for (const kind of databaseKinds) {
  test(`${kind}: expired jobs, codes and counts are deleted, others are kept`, async (t) => {
    const database = await openDatabase(await makeDatabaseUrl(kind));
    await addJob(database, 'job_now', noon);
    await addJob(database, 'job_later', noon + 1);
    for (const [hash, at] of [
      ['now', noon],
      ['later', noon + 1],
    ] as const) {
      await database.insertInto('playground_codes').values({ hash, expires_at: at }).execute();
    }
    for (const days of [89, 90]) {
      const date = new Date(noon - days * dayMs).toISOString().slice(0, 10);
      const counts = { requests: 1, errors: 0, audio_ms: 0 };
      await database
        .insertInto('usage')
        .values({ token: 'tok_0', owner: null, date, ...counts })
        .execute();
    }
    await deleteExpired(database, noon);
    t.deepEqual(await jobsIn(database), ['job_later']);
    t.deepEqual(await database.selectFrom('playground_codes').select('hash').execute(), [{ hash: 'later' }]);
    t.deepEqual(await database.selectFrom('usage').select('date').execute(), [{ date: '2029-10-04' }]);
    await database.destroy();
  });
}

test('deletion is repeated, and a failure is logged and does not end it', async (t) => {
  const database = await openDatabase(await makeDatabaseUrl('sqlite'));
  const lines: string[] = [];
  await database.schema.alterTable('jobs').renameTo('away').execute();
  const failures = createWriteFailures(pino({}, { write: (line: string) => lines.push(line) }));
  const stop = keepDeletingExpired(database, failures, 10);
  await until(() => failures.counts().expiry > 1);
  t.regex(lines[0] ?? '', /"level":40.*no such table: jobs.*"write":"expiry"/);
  await database.schema.alterTable('away').renameTo('jobs').execute();
  await addJob(database, 'job_1', 1);
  await until(async () => (await jobsIn(database)).length === 0);
  await stop();
  await database.destroy();
  t.pass();
});

test('a service without Redis deletes results of jobs', async (t) => {
  const UNDERTONE_DATABASE_URL = `file:${join(makeFolder(), 'undertone.db')}`;
  const database = await openDatabase(UNDERTONE_DATABASE_URL);
  t.teardown(() => database.destroy());
  await addJob(database, 'job_old', 1);
  await addJob(database, 'job_new', Date.now() + dayMs);
  await startServer(t, { UNDERTONE_DATABASE_URL });
  await until(async () => (await jobsIn(database)).length === 1);
  t.deepEqual(await jobsIn(database), ['job_new']);
});

test('a worker deletes results of jobs', async (t) => {
  const { database, work } = await openJobService(t);
  await addJob(database, 'job_old', 1);
  await work();
  await until(async () => (await jobsIn(database)).length === 0);
  t.pass();
});

// Writes that no request waits for do not fail unseen.

async function open() {
  const database = await openDatabase(await makeDatabaseUrl('sqlite'));
  const lines: Readonly<Record<string, unknown>>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { database, lines, failures: createWriteFailures(logger) };
}

test('counts of usage that cannot be written are logged once, counted, and logged when they are written', async (t) => {
  const { database, lines, failures } = await open();
  const usage = createUsageCounts(database, Date.now, failures);
  const metrics = createMetrics();
  metrics.addWriteFailures(failures.counts);
  await database.schema.alterTable('usage').renameTo('away').execute();
  usage.add({ token: 'tok_0', owner: null }, { requests: 1 });
  for (const count of [1, 2]) {
    await t.throwsAsync(usage.flush());
    t.is(failures.counts().usage, count);
  }
  t.is(lines.length, 1);
  t.like(lines[0], { level: 40, write: 'usage' });
  t.regex(JSON.stringify(lines[0]), /no such table: usage/);
  t.regex(await metrics.text(), /^undertone_background_write_failures_total\{write="usage"\} 2$/m);
  t.regex(await metrics.text(), /^undertone_background_write_failures_total\{write="last_used"\} 0$/m);
  await database.schema.alterTable('away').renameTo('usage').execute();
  await usage.flush();
  t.like(lines[1], { level: 30, write: 'usage', msg: 'the database is written again' });
  await database.destroy();
});

test('last uses of tokens that cannot be written are logged and counted', async (t) => {
  const { database, lines, failures } = await open();
  const tokens = createTokens({ database, staticToken: null, failures });
  const request = { name: 'ci', scopes: ['analyze:emotion'], expiresAt: null, purpose: null };
  const { token } = await tokens.create(request);
  t.not(await tokens.verify(token), null);
  await database.schema.alterTable('tokens').renameTo('away').execute();
  await t.throwsAsync(tokens.flush());
  t.is(failures.counts().last_used, 1);
  t.like(lines[0], { level: 40, write: 'last_used' });
  await database.destroy();
});
