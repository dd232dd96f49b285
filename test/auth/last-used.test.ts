import test from 'ava';
import { createLastUsed, createTokens } from '../../src/service/auth/tokens.ts';
import { type Database, openDatabase } from '../../src/service/database.ts';
import { ServiceError } from '../../src/service/errors.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';

const noon = Date.parse('2030-01-01T12:00:00Z');
const minute = 60_000;

/** The real database with a count of what is written to it. */
async function open(kind: 'sqlite' | 'postgres') {
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
    const { database, ids, used, writes } = await open(kind);
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

  test(`${kind}: a later time written by another process is kept`, async (t) => {
    const { database, ids, used } = await open(kind);
    const late = createLastUsed(database, () => noon + 5 * minute);
    const early = createLastUsed(database, () => noon);
    for (const usage of [late, early]) {
      usage.mark(ids[2]);
      await usage.flush();
    }
    t.deepEqual(await used(), [null, null, 5 * minute]);
    await database.destroy();
  });
}

test('a failed write is repeated later', async (t) => {
  const { database, ids, used } = await open('sqlite');
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
