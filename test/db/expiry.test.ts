/** Rows whose time is over leave the database, whether jobs are turned on or not. */
import { join } from 'node:path';
import test from 'ava';
import pino from 'pino';
import { createWriteFailures } from '../../src/service/background-writes.ts';
import { createDeletionClock } from '../../src/service/clock.ts';
import { type Database, openDatabase } from '../../src/service/database.ts';
import { deleteExpired, keepDeletingExpired } from '../../src/service/expiry.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { openJobService } from '../support/job-service.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/wait.ts';

const noon = Date.parse('2030-01-01T12:00:00Z');
const dayMs = 86_400_000;

const addJob = (database: Database, id: string, expiresAt: number, outcome: 'done' | null = 'done') =>
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
      outcome,
    })
    .execute();

const jobsIn = async (database: Database) =>
  (await database.selectFrom('jobs').select('id').orderBy('id').execute()).map(({ id }) => id);

for (const kind of databaseKinds) {
  test(`${kind}: expired jobs, codes and counts are deleted, others are kept`, async (t) => {
    const database = await openDatabase(await makeDatabaseUrl(kind));
    await addJob(database, 'job_now', noon);
    await addJob(database, 'job_later', noon + 1);
    await addJob(database, 'job_lost', noon - 3 * dayMs, null);
    await addJob(database, 'job_open', noon - 2 * dayMs, null);
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
    t.deepEqual(await jobsIn(database), ['job_later', 'job_open']);
    t.deepEqual(await database.selectFrom('playground_codes').select('hash').execute(), [{ hash: 'later' }]);
    t.deepEqual(await database.selectFrom('usage').select('date').execute(), [{ date: '2029-10-04' }]);
    await database.destroy();
  });
}

test('what a clock that was set ahead ends is deleted after an hour, or not at all', (t) => {
  const [minute, hour] = [60_000, 3_600_000];
  let [now, passed] = [noon, 0];
  const time = createDeletionClock(
    () => now,
    () => passed,
  );
  const wait = (ms: number) => {
    now += ms;
    passed += ms;
    return time();
  };
  t.is(wait(minute), noon + minute);
  now += 48 * hour;
  t.is(wait(minute), noon + 2 * minute);
  t.is(wait(50 * minute), noon + 52 * minute);
  now -= 48 * hour;
  t.is(wait(minute), noon + 53 * minute);
  now += 48 * hour;
  t.is(wait(59 * minute), noon + 112 * minute);
  t.is(wait(minute), now);
  t.is(wait(minute), now);
  now -= 50 * hour;
  t.is(wait(minute), now);
});

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
