/** Usage of tokens: counts and the time of the last use. */
import test from 'ava';
import { createLastUsed } from '../../src/service/auth/last-used.ts';
import { createTokens } from '../../src/service/auth/tokens.ts';
import { createUsageCounts, type UsageKey } from '../../src/service/auth/usage.ts';
import { type Database, openDatabase } from '../../src/service/database.ts';
import { ServiceError } from '../../src/service/errors.ts';
import type { DatabaseKind } from '../../src/service/migrations.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';

const noon = Date.parse('2030-01-01T12:00:00Z');
const dayMs = 86_400_000;
const key = (token: string): UsageKey => ({ token, owner: null });

/** The real database with a count of the rows and statements that are written to it. */
async function open(kind: DatabaseKind) {
  const url = await makeDatabaseUrl(kind);
  const database = await openDatabase(url);
  let inserts = 0;
  const counted: Database = database.withPlugin({
    transformQuery: ({ node }) => {
      if (node.kind === 'InsertQueryNode') inserts++;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  return { url, database: counted, inserts: () => inserts };
}

for (const kind of databaseKinds) {
  test(`${kind}: a thousand requests of two tokens are one statement, and days are apart`, async (t) => {
    const { database, inserts } = await open(kind);
    let now = noon;
    const usage = createUsageCounts(database, () => now);
    for (let count = 0; count < 1000; count++) {
      const counts = { requests: 1, errors: count % 10 === 0 ? 1 : 0, audioSeconds: 0.25 };
      usage.add(key(`tok_${count % 2}`), counts);
    }
    await usage.flush();
    t.is(inserts(), 1);
    now += dayMs;
    usage.add(key('tok_0'), { audioSeconds: 1.5 });
    t.deepEqual(await usage.ofToken(key('tok_0')), {
      since: '2029-10-05',
      days: [
        { date: '2030-01-02', requests: 0, errors: 0, audioSeconds: 1.5 },
        { date: '2030-01-01', requests: 500, errors: 100, audioSeconds: 125 },
      ],
    });
    t.is((await usage.ofToken(key('tok_1'))).days[0]?.errors, 0);
    t.deepEqual((await usage.ofToken(key('tok_2'))).days, []);
  });

  test(`${kind}: reading writes nothing, and has the counts that are written and those that are not`, async (t) => {
    const { database, inserts } = await open(kind);
    const usage = createUsageCounts(database, () => noon);
    const seen = async () => {
      const [mine, all] = await Promise.all([usage.ofToken(key('tok_0')), usage.ofTokens('all')]);
      return [mine.days[0]?.requests, all.tokens[0]?.days[0]?.requests];
    };
    usage.add(key('tok_0'), { requests: 1 });
    t.deepEqual(await seen(), [1, 1]);
    t.is(inserts(), 0);
    const written = usage.flush();
    usage.add(key('tok_0'), { requests: 2 });
    t.deepEqual(await seen(), [3, 3]);
    await written;
    t.is(inserts(), 1);
    t.is((await usage.ofToken(key('tok_0'))).days.length, 1);
  });

  test(`${kind}: two processes add to the same day`, async (t) => {
    const { database, url } = await open(kind);
    const usages = [createUsageCounts(database), createUsageCounts(await openDatabase(url))] as const;
    for (const usage of usages) usage.add(key('tok_0'), { requests: 2 });
    await Promise.all(usages.map((usage) => usage.flush()));
    t.is((await usages[0].ofToken(key('tok_0'))).days[0]?.requests, 4);
  });

  test(`${kind}: 90 days are kept`, async (t) => {
    const { database } = await open(kind);
    let now = noon;
    const usage = createUsageCounts(database, () => now);
    usage.add(key('tok_0'), { requests: 1 });
    await usage.flush();
    now += 89 * dayMs;
    t.is((await usage.ofToken(key('tok_0'))).days.length, 1);
    now += dayMs;
    t.is((await usage.ofToken(key('tok_0'))).days.length, 0);
  });

  test(`${kind}: counts of a deleted account do not keep others from being written`, async (t) => {
    const { database } = await open(kind);
    const usage = createUsageCounts(database);
    usage.add({ token: 'tok_gone', owner: 'nobody' }, { requests: 1 });
    usage.add(key('tok_0'), { requests: 1 });
    await usage.flush();
    t.deepEqual(
      (await usage.ofTokens('all')).tokens.map(({ token }) => token),
      ['tok_0'],
    );
  });
}

test('counts that cannot be written are written later', async (t) => {
  const { database } = await open('sqlite');
  const usage = createUsageCounts(database);
  await database.schema.alterTable('usage').renameTo('away').execute();
  usage.add(key('tok_0'), { requests: 1 });
  await t.throwsAsync(usage.flush(), { instanceOf: ServiceError });
  usage.add(key('tok_0'), { requests: 1 });
  await database.schema.alterTable('away').renameTo('usage').execute();
  t.is((await usage.ofToken(key('tok_0'))).days[0]?.requests, 2);
});

test('a token of the command line has its name', async (t) => {
  const { database } = await open('sqlite');
  const { record } = await createTokens({ database, staticToken: null }).create({
    name: 'ci',
    scopes: ['analyze:emotion'],
    expiresAt: null,
    purpose: null,
  });
  const usage = createUsageCounts(database);
  usage.add({ token: record.id, owner: null }, { requests: 1 });
  t.like((await usage.ofTokens('all')).tokens[0], { name: 'ci', email: null });
});

const minute = 60_000;

/** The real database with a count of what is written to it. */
async function openTokens(kind: 'sqlite' | 'postgres') {
  const database = await openDatabase(await makeDatabaseUrl(kind));
  const writes: number[] = [];
  const counted: Database = database.withPlugin({
    transformQuery: ({ node }) => {
      if (node.kind === 'UpdateQueryNode') writes.push(writes.length);
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const tokens = createTokens({ database, staticToken: null });
  const ids: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    ids.push(
      (await tokens.create({ name, scopes: ['analyze:emotion'], expiresAt: null, purpose: null })).record.id,
    );
  }
  const used = async () => {
    const records = await tokens.list();
    const times = ids.map((id) => records.find((record) => record.id === id)?.lastUsedAt);
    return times.map((time) => (time ? time.getTime() - noon : null));
  };
  return { database: counted, ids: ids as [string, string, string], used, writes };
}

for (const kind of databaseKinds) {
  test(`${kind}: a thousand uses of two tokens in one minute are one write`, async (t) => {
    const { database, ids, used, writes } = await openTokens(kind);
    let now = noon + 1;
    const usage = createLastUsed(database, () => now++);
    for (let count = 0; count < 1000; count++) usage.mark(ids[count % 2] as string);
    t.deepEqual(await used(), [null, null, null]);
    await usage.flush();
    t.deepEqual(await used(), [0, 0, null]);
    t.is(writes.length, 1);
    usage.mark(ids[0]);
    await usage.flush();
    t.is(writes.length, 1, 'the minute is known already');
    now = noon + minute;
    usage.mark(ids[0]);
    await usage.flush();
    t.deepEqual(await used(), [minute, 0, null]);
    t.is(writes.length, 2);
    await database.destroy();
  });

  test(`${kind}: a later time written by another process is kept, unless its clock was ahead`, async (t) => {
    const { database, ids, used } = await openTokens(kind);
    const late = createLastUsed(database, () => noon + 5 * minute);
    const early = createLastUsed(database, () => noon);
    for (const usage of [late, early]) {
      usage.mark(ids[2]);
      await usage.flush();
    }
    t.deepEqual(await used(), [null, null, 5 * minute]);
    const ahead = createLastUsed(database, () => noon + 48 * 60 * minute);
    for (const [usage, time] of [
      [ahead, 48 * 60 * minute],
      [early, 0],
    ] as const) {
      usage.mark(ids[0]);
      await usage.flush();
      t.is((await used())[0], time);
    }
    await database.destroy();
  });
}

test('a failed write is repeated later', async (t) => {
  const { database, ids, used } = await openTokens('sqlite');
  let broken = true;
  const flaky: Database = database.withPlugin({
    transformQuery: ({ node }) => {
      if (broken) throw new Error('disk full');
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const usage = createLastUsed(flaky, () => noon);
  usage.mark(ids[1]);
  const failure = await t.throwsAsync<ServiceError>(usage.flush(), { instanceOf: ServiceError });
  t.is(failure.code, 'storage_unavailable');
  broken = false;
  await usage.flush();
  t.deepEqual(await used(), [null, 0, null]);
  await database.destroy();
});
