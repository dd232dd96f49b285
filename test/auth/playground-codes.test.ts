/** One-time codes of the playground, in both databases. */
import test from 'ava';
import { createPlaygroundCodes } from '../../src/service/auth/playground-codes.ts';
import { createTokens } from '../../src/service/auth/tokens.ts';
import { openDatabase } from '../../src/service/database.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';

const codeMs = 10 * 60_000;
const tokenMs = 8 * 3_600_000;

/** One process of the service. */
async function open(url: string, now: () => number) {
  const database = await openDatabase(url);
  const tokens = createTokens({ database, staticToken: null, now });
  return { database, tokens, codes: createPlaygroundCodes({ database, tokens, now }) };
}

for (const kind of databaseKinds) {
  test(`${kind}: a code has 192 bits, is stored as a hash, and expires after 10 minutes`, async (t) => {
    let now = 1e12;
    const { codes, database } = await open(await makeDatabaseUrl(kind), () => now);
    const early = await codes.create();
    const late = await codes.create();
    t.regex(early, /^[\w-]{32}$/);
    const rows = await database.selectFrom('playground_codes').selectAll().execute();
    t.is(rows.length, 2);
    for (const { hash } of rows) t.regex(hash, /^[0-9a-f]{64}$/);
    t.false(JSON.stringify(rows).includes(early));
    now += codeMs - 1;
    t.not(await codes.redeem(early), null);
    now += 1;
    t.is(await codes.redeem(late), null);
    await database.destroy();
  });

  test(`${kind}: of many processes that redeem a code together, one succeeds`, async (t) => {
    const url = await makeDatabaseUrl(kind);
    const processes = await Promise.all(Array.from({ length: 4 }, () => open(url, Date.now)));
    const code = (await processes[0]?.codes.create()) ?? '';
    const redeemed = await Promise.all([...processes, ...processes].map(({ codes }) => codes.redeem(code)));
    t.is(redeemed.filter((token) => token !== null).length, 1);
    for (const { database } of processes) await database.destroy();
  });

  test(`${kind}: the token has the scopes of analyses, no account, and expires after 8 hours`, async (t) => {
    let now = 1e12;
    const { codes, tokens, database } = await open(await makeDatabaseUrl(kind), () => now);
    const created = await codes.redeem(await codes.create());
    const token = created?.token ?? '';
    t.like(await tokens.verify(token), {
      scopes: ['analyze:emotion', 'analyze:cognitive'],
      owner: null,
      purpose: null,
      session: null,
    });
    t.is(created?.record.expiresAt?.getTime(), now + tokenMs);
    now += tokenMs;
    t.is(await tokens.verify(token), null);
    await database.destroy();
  });
}
