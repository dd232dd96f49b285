/** The database of release 0.1.0, whose rows were recorded from it, under the present version. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { Kysely, Migrator, PostgresDialect, SqliteDialect } from 'kysely';
import Libsql from 'libsql';
import pg from 'pg';
import type { DatabaseKind } from '../../src/db/database.ts';
import { migrationsFor } from '../../src/db/migrations.ts';
import { startAccountApp, statusWith } from '../support/account.ts';
import { databaseKinds, makeDatabaseUrl } from '../support/database.ts';

type Row = Readonly<Record<string, string | number | boolean | null>>;
type Recorded = {
  readonly secret: string;
  readonly password: string;
  readonly cookie: string;
  readonly tokens: { readonly account: string; readonly commandLine: string };
  readonly rows: Readonly<Record<string, readonly Row[]>>;
};

const recorded = JSON.parse(
  readFileSync(new URL('./release-0.1.0.json', import.meta.url), 'utf8'),
) as Recorded;
/** Of the release, and of the version before usage was counted. */
const lastMigrations = ['0006-installation', '0009-playground-codes'] as const;
type LastMigration = (typeof lastMigrations)[number];

async function makeReleasedDatabase(
  kind: DatabaseKind,
  lastMigration: LastMigration = lastMigrations[0],
): Promise<string> {
  const url = await makeDatabaseUrl(kind);
  const dialect =
    kind === 'postgres'
      ? new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) })
      : new SqliteDialect({ database: new Libsql(url.slice('file:'.length)) });
  const db = new Kysely<Record<string, Row>>({ dialect });
  const released = Object.entries(migrationsFor(kind)).filter(([name]) => name <= lastMigration);
  const provider = { getMigrations: async () => Object.fromEntries(released) };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error) throw error;
  for (const [table, rows] of Object.entries(recorded.rows)) {
    for (const row of rows) await db.insertInto(table).values(valuesFor(kind, row)).execute();
  }
  await db.destroy();
  return url;
}

/** SQLite has numbers for the booleans of PostgreSQL. */
function valuesFor(kind: DatabaseKind, row: Row): Row {
  const { emailVerified } = row;
  return kind === 'sqlite' || emailVerified === undefined
    ? row
    : { ...row, emailVerified: emailVerified === 1 };
}

function testUpgrade(kind: DatabaseKind, lastMigration: LastMigration): void {
  test(`${kind}, ${lastMigration}: accounts, sessions and tokens go on, and sign-up is closed`, async (t) => {
    const url = await makeReleasedDatabase(kind, lastMigration);
    const env = { UNDERTONE_SIGNUP: 'first', UNDERTONE_SECRET: recorded.secret };
    const { app, browser } = await startAccountApp(t, { kind, url, env });
    const { password, tokens } = recorded;
    const ada = { email: 'ada@home.example', administrator: true };
    t.deepEqual((await browser().ask('session')).json, { user: null, sign_up: 'closed' });
    const there = browser();
    const [name = '', value = ''] = recorded.cookie.split('=');
    there.setCookie(name, value);
    t.deepEqual((await there.ask('session')).json.user, ada);
    for (const user of [ada, { email: 'bob@home.example', administrator: false }]) {
      const { status, json } = await browser().ask('log-in', { email: user.email, password });
      t.deepEqual([status, json.user], [200, user]);
    }
    t.is(await statusWith(app, tokens.account), 200);
    t.is(await statusWith(app, tokens.commandLine), 200);
    t.is((await browser().signUp('eve@home.example')).status, 403);
    const listed = (await there.ask('tokens')).json.tokens as { name: string }[];
    t.deepEqual(listed.map((token) => token.name).sort(), ['ci', 'first']);
    const used = (await there.ask('usage')).json.tokens as { name: string }[];
    t.deepEqual(used.map((token) => token.name).sort(), ['ci', 'first']);
  });
}

for (const kind of databaseKinds) {
  for (const lastMigration of lastMigrations) testUpgrade(kind, lastMigration);

  test(`${kind}: sign-up is closed as well where nobody was made administrator`, async (t) => {
    const url = await makeReleasedDatabase(kind);
    const { browser, database } = await startAccountApp(t, { kind, url, env: { UNDERTONE_SIGNUP: 'first' } });
    await database.deleteFrom('administrators').execute();
    t.is((await browser().signUp('eve@home.example')).status, 403);
  });
}
