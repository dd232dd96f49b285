/** Tokens for one live session, and one-time codes of the playground. */
import test from 'ava';
import { createPlaygroundCodes } from '../../src/service/auth/playground-codes.ts';
import { createStreamTokens } from '../../src/service/auth/stream-tokens.ts';
import { createTokens } from '../../src/service/auth/tokens.ts';
import { openDatabase } from '../../src/service/database.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';

const secret = 'a secret of the tests, 32 characters or more';
const principal = {
  id: 'tok_1',
  name: 'app',
  owner: 'ada',
  purpose: 'captions',
  session: null,
  scopes: ['analyze:emotion', 'analyze:cognitive'],
} as const;

test('a token carries the principal with the permitted scopes, once', async (t) => {
  const issuer = createStreamTokens({ secret });
  const { token } = issuer.issue(principal, ['analyze:emotion']);
  t.regex(token, /^[\w-]+$/);
  const host = createStreamTokens({ secret });
  t.deepEqual(await host.redeem(token), { ...principal, scopes: ['analyze:emotion'] });
  t.is(await host.redeem(token), null);
});

test('a token expires after 60 s', async (t) => {
  let now = 1e12;
  const tokens = createStreamTokens({ secret, now: () => now });
  const [early, late] = [
    tokens.issue(principal, principal.scopes),
    tokens.issue(principal, principal.scopes),
  ];
  t.is(late.expiresAt.getTime(), now + 60_000);
  now += 59_999;
  t.not(await tokens.redeem(early.token), null);
  now += 1;
  t.is(await tokens.redeem(late.token), null);
});

test('a token of a clock that was set back is refused: its use may be forgotten', async (t) => {
  let now = 1e12;
  const tokens = createStreamTokens({ secret, now: () => now });
  const [skewed, back] = [
    tokens.issue(principal, principal.scopes),
    tokens.issue(principal, principal.scopes),
  ];
  now -= 60_000;
  t.not(await tokens.redeem(skewed.token), null);
  t.is(await tokens.redeem(skewed.token), null);
  now -= 1;
  t.is(await tokens.redeem(back.token), null);
});

test('a changed token and one of another secret are refused', async (t) => {
  const tokens = createStreamTokens({ secret });
  const { token } = tokens.issue(principal, principal.scopes);
  const flipped = `${token.slice(0, 40)}${token[40] === 'A' ? 'B' : 'A'}${token.slice(41)}`;
  for (const wrong of [flipped, token.slice(0, -4), '', 'x'.repeat(100), 'x'.repeat(5000)]) {
    t.is(await tokens.redeem(wrong), null);
  }
  const foreign = createStreamTokens({ secret: 'another secret of the tests, 32 characters' });
  t.is(await foreign.redeem(token), null);
  t.not(await tokens.redeem(token), null);
});

test('a token does not reveal the principal', (t) => {
  const { token } = createStreamTokens({ secret }).issue(principal, principal.scopes);
  t.false(Buffer.from(token, 'base64url').toString('latin1').includes('ada'));
});

// One-time codes of the playground, in both databases.

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
