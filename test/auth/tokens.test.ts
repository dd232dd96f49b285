import { dirname } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createTokenSecret, isToken } from '../../src/service/auth/token-format.ts';
import { createTokens, type TokenInput, type Tokens } from '../../src/service/auth/tokens.ts';
import { type Database, openDatabase } from '../../src/service/database.ts';
import { ServiceError } from '../../src/service/errors.ts';
import type { DatabaseKind } from '../../src/service/migrations.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';
import { readAll } from '../support/folder.ts';

type Office = {
  tokens: Tokens;
  database: Database;
  url: string;
  clock: { now: number };
  queries: () => number;
};

type Options = { readonly kind?: DatabaseKind; readonly url?: string; readonly staticToken?: string };

/** The real database with a clock that stands still, and a count of what is asked of it. */
async function open(options: Options = {}): Promise<Office> {
  const url = options.url ?? (await makeDatabaseUrl(options.kind ?? 'sqlite'));
  const clock = { now: Date.parse('2030-01-01T00:00:00Z') };
  const database = await openDatabase(url);
  let queries = 0;
  const counted = database.withPlugin({
    transformQuery: ({ node }) => {
      queries++;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const staticToken = options.staticToken ?? null;
  const tokens = createTokens({ database: counted, staticToken, now: () => clock.now });
  return { tokens, database, url, clock, queries: () => queries };
}

function both(title: string, body: (t: ExecutionContext, kind: DatabaseKind) => Promise<void>): void {
  for (const kind of databaseKinds) test(`${kind}: ${title}`, (t) => body(t, kind));
}

const request: TokenInput = { name: 'ci', scopes: ['analyze:emotion'], expiresAt: null, purpose: null };

both('a created token is accepted, with its name and scopes', async (t, kind) => {
  const { tokens } = await open({ kind });
  const { token, record } = await tokens.create({
    ...request,
    scopes: ['analyze:cognitive', 'analyze:emotion'],
  });
  t.regex(token, /^ut_[0-9A-Za-z]{46}$/);
  const bearer = await tokens.verify(token);
  t.is(bearer?.id, record.id);
  t.is(bearer?.name, 'ci');
  t.deepEqual(bearer?.scopes, ['analyze:emotion', 'analyze:cognitive']);
});

test('the database holds its hash and not the token', async (t) => {
  const { tokens, database, url } = await open();
  const path = url.slice('file:'.length);
  const { token } = await tokens.create(request);
  await database.destroy();
  const bytes = Buffer.concat(readAll(dirname(path)).map((file) => file.bytes));
  t.true(bytes.includes('ci'));
  t.true(bytes.includes(token.slice(0, 7)));
  t.false(bytes.includes(token.slice(0, 12)));
  t.false(bytes.includes(token.slice(8)));
});

test('the checksum refuses every token with one wrong character', (t) => {
  const token = createTokenSecret();
  t.true(isToken(token));
  for (let index = 0; index < token.length; index++) {
    const other = token[index] === 'a' ? 'b' : 'a';
    t.false(isToken(token.slice(0, index) + other + token.slice(index + 1)));
  }
  t.false(isToken(`${token}a`));
  t.false(isToken(token.slice(0, -1)));
  t.false(isToken(`${token}\n`));
});

test('the format of tokens and its checksum do not change', (t) => {
  // CRC-32 by Python: zlib.crc32(b'ut_' + b'0' * 40), written in base62.
  t.true(isToken(`ut_${'0'.repeat(40)}1HMCwy`));
});

test('malformed tokens are refused without a query', async (t) => {
  const { tokens, queries } = await open();
  const wrong = ['', 'x', 'ut_', createTokenSecret().slice(0, -1), `ut_${'A'.repeat(46)}`, 'é'.repeat(300)];
  for (const token of wrong) t.is(await tokens.verify(token), null);
  t.is(queries(), 0);
});

both('a known token is looked up once in two seconds, by however many requests', async (t, kind) => {
  const { tokens, clock, queries } = await open({ kind });
  const { token } = await tokens.create(request);
  const before = queries();
  await Promise.all(Array.from({ length: 20 }, () => tokens.verify(token)));
  clock.now += 1999;
  await tokens.verify(token);
  t.is(queries() - before, 1);
  clock.now += 1;
  t.truthy(await tokens.verify(token));
  t.is(queries() - before, 2);
});

test('a refusal is cached for less than a second', async (t) => {
  const { tokens, clock, queries } = await open();
  const token = createTokenSecret();
  for (let count = 0; count < 5; count++) t.is(await tokens.verify(token), null);
  t.is(queries(), 1);
  clock.now += 999;
  t.is(await tokens.verify(token), null);
  t.is(queries(), 2);
});

test('a clock that is set back keeps nothing alive', async (t) => {
  const { tokens, clock, queries } = await open();
  const { token } = await tokens.create(request);
  await tokens.verify(token);
  const before = queries();
  clock.now -= 3_600_000;
  await tokens.verify(token);
  t.is(queries() - before, 1);
});

both('a token is revoked at once, by id or by name, and only once', async (t, kind) => {
  const { tokens } = await open({ kind });
  for (const key of ['id', 'name'] as const) {
    const { token, record } = await tokens.create(request);
    t.truthy(await tokens.verify(token));
    const revoked = await tokens.revoke(record[key]);
    t.is(revoked?.id, record.id);
    t.truthy(revoked?.revokedAt);
    t.is(await tokens.verify(token), null);
    t.is(await tokens.revoke(record[key]), null);
  }
});

both(
  'a token revoked by another process is refused once the cache entry is two seconds old',
  async (t, kind) => {
    const here = await open({ kind });
    const there = await open({ url: here.url });
    const { token, record } = await there.tokens.create(request);
    t.truthy(await here.tokens.verify(token));
    await there.tokens.revoke(record.id);
    here.clock.now += 2000;
    t.is(await here.tokens.verify(token), null);
  },
);

both('an expiry is exact to the millisecond, also for cached tokens', async (t, kind) => {
  const { tokens, clock } = await open({ kind });
  const { token } = await tokens.create({ ...request, expiresAt: new Date(clock.now + 1500) });
  clock.now += 1000;
  t.truthy(await tokens.verify(token));
  clock.now += 499;
  t.truthy(await tokens.verify(token));
  clock.now += 1;
  t.is(await tokens.verify(token), null);
});

test('10,000 unknown tokens evict old refusals, but no known token', async (t) => {
  const { tokens, queries } = await open();
  const known = await tokens.create(request);
  await tokens.verify(known.token);
  const before = queries();
  const first = createTokenSecret();
  await tokens.verify(first);
  for (let count = 0; count < 10_000; count++) await tokens.verify(createTokenSecret());
  t.truthy(await tokens.verify(known.token));
  t.is(queries() - before, 10_001);
  await tokens.verify(first);
  t.is(queries() - before, 10_002, 'the oldest refusal was forgotten');
});

test('the token of the configuration has every scope and needs no database', async (t) => {
  const staticToken = 'any-form.of_token~+/20==';
  const { tokens, database, queries } = await open({ staticToken });
  await database.destroy();
  t.deepEqual(await tokens.verify(staticToken), {
    id: 'static',
    owner: null,
    purpose: null,
    session: null,
    name: 'UNDERTONE_TOKEN',
    scopes: ['analyze:emotion', 'analyze:cognitive'],
  });
  t.is(await tokens.verify(`${staticToken}=`), null);
  t.is(queries(), 0);
});

both(
  'while the database is unreachable, the last known state of a token is used for ten minutes',
  async (t, kind) => {
    const { tokens, database, clock } = await open({ kind });
    const { token: good } = await tokens.create(request);
    const { token: revoked, record } = await tokens.create({ ...request, name: 'revoked' });
    const { token: unused } = await tokens.create({ ...request, name: 'unused' });
    await tokens.verify(good);
    await tokens.verify(revoked);
    await tokens.revoke(record.id);
    await database.destroy();
    for (let minute = 0; minute < 10; minute++) {
      t.is((await tokens.verify(good))?.name, 'ci');
      clock.now += 60_000;
    }
    for (const token of [good, revoked, unused]) {
      await t.throwsAsync(tokens.verify(token), { instanceOf: ServiceError, code: 'storage_unavailable' });
    }
  },
);

both('list returns every token, and hasAny whether one exists', async (t, kind) => {
  const { tokens, clock } = await open({ kind });
  t.false(await tokens.hasAny());
  const expiresAt = new Date(clock.now + 1000);
  await tokens.create({ ...request, name: 'one', expiresAt });
  clock.now += 1;
  await tokens.create({ ...request, name: 'two' });
  await tokens.revoke('two');
  t.true(await tokens.hasAny());
  const [one, two, ...more] = await tokens.list();
  t.deepEqual([one?.name, one?.expiresAt, one?.revokedAt], ['one', expiresAt, null]);
  t.deepEqual([two?.name, two?.expiresAt, two?.revokedAt], ['two', null, new Date(clock.now)]);
  t.deepEqual(more, []);
});

const nameRule = '1 to 64 letters, digits, spaces or ._@- that do not begin with tok_';
const purposeRule = '1 to 200 visible characters on one line';
const refusals: readonly [Partial<TokenInput>, string][] = [
  [{ name: '' }, `Expected ${nameRule} for \`name\`, got ""`],
  [{ name: 'a\nb' }, `Expected ${nameRule} for \`name\`, got "a\\nb"`],
  [{ name: 'tok_1' }, `Expected ${nameRule} for \`name\`, got "tok_1"`],
  [{ name: 'x'.repeat(65) }, `Expected ${nameRule} for \`name\`, got "${'x'.repeat(65)}"`],
  [{ scopes: [] }, 'Expected scopes of analyze:emotion, analyze:cognitive, embed for `scopes`, got ""'],
  [
    { scopes: ['admin'] },
    'Expected scopes of analyze:emotion, analyze:cognitive, embed for `scopes`, got "admin"',
  ],
  [{ expiresAt: new Date(0) }, 'Expected a time to come for `expires`, got "1970-01-01T00:00:00.000Z"'],
  [{ purpose: '' }, `Expected ${purposeRule} for \`purpose\`, got ""`],
  [{ purpose: ' x' }, `Expected ${purposeRule} for \`purpose\`, got " x"`],
  [{ purpose: 'a\tb' }, `Expected ${purposeRule} for \`purpose\`, got "a\\tb"`],
  [{ purpose: 'x'.repeat(201) }, `Expected ${purposeRule} for \`purpose\`, got "${'x'.repeat(201)}"`],
];

for (const [change, message] of refusals) {
  test(message, async (t) => {
    const { tokens } = await open();
    await t.throwsAsync(tokens.create({ ...request, ...change }), { message });
  });
}

both('the purpose of a token comes with it', async (t, kind) => {
  const { tokens } = await open({ kind });
  const { token } = await tokens.create({ ...request, purpose: 'Suche im Filmarchiv' });
  t.is((await tokens.verify(token))?.purpose, 'Suche im Filmarchiv');
  t.is((await tokens.list())[0]?.purpose, 'Suche im Filmarchiv');
});

both('the name of a live token is in use, that of a revoked one is not', async (t, kind) => {
  const { tokens } = await open({ kind });
  await tokens.create(request);
  await t.throwsAsync(tokens.create(request), { message: 'Expected an unused name for `name`, got "ci"' });
  await tokens.revoke('ci');
  await t.notThrowsAsync(tokens.create(request));
});

both(
  'revoked and expired tokens are found among more principals than a query has parameters',
  async (t, kind) => {
    const { tokens, clock } = await open({ kind });
    const [kept, revoked] = [await tokens.create(request), await tokens.create({ ...request, name: 'old' })];
    const expiresAt = new Date(clock.now + 1000);
    const expired = await tokens.create({ ...request, name: 'short', expiresAt });
    const later = await tokens.create({ ...request, name: 'long', expiresAt: new Date(clock.now + 1001) });
    await tokens.revoke(revoked.record.id);
    clock.now += 1000;
    const shared = { name: 'ci', owner: null, purpose: null, session: null, scopes: [] };
    const ids = Array.from({ length: 70_000 }, (_, index) => `tok_${index}`);
    const known = [kept, later, expired, revoked].map(({ record }) => record.id);
    const principals = [...ids, ...known].map((id) => ({ id, ...shared }));
    t.deepEqual(await tokens.findEnded(principals), {
      revoked: principals.slice(-1),
      expired: principals.slice(-2, -1),
    });
  },
);

both('owners are accounts and valid tokens of the command line', async (t, kind) => {
  const { tokens, database, clock } = await open({ kind });
  t.false(await tokens.hasSeveralOwners());
  await tokens.create({ ...request, name: 'kept' });
  t.false(await tokens.hasSeveralOwners());
  await tokens.create({ ...request, name: 'revoked' });
  t.true(await tokens.hasSeveralOwners());
  await tokens.revoke('revoked');
  t.false(await tokens.hasSeveralOwners());
  await tokens.create({ ...request, name: 'short', expiresAt: new Date(clock.now + 1000) });
  t.true(await tokens.hasSeveralOwners());
  clock.now += 1000;
  t.false(await tokens.hasSeveralOwners());
  t.true(await createTokens({ database, staticToken: 's'.repeat(20) }).hasSeveralOwners());
});
