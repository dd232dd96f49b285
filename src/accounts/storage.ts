/** The embedded database: the only file that knows which one it is. Everybody else sees Kysely's types. */
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Generated, Kysely, Migrator, SqliteDialect, sql } from 'kysely';
import Libsql from 'libsql';
import { Failure } from '../errors.ts';
import { migrations } from './migrations.ts';

/** Times are milliseconds since 1970, the same in every database. */
export type TokenTable = {
  readonly id: string;
  readonly name: string;
  /** The token's first characters, enough to recognise it by and far too few to guess the rest. */
  readonly prefix: string;
  /** SHA-256 of the token in hexadecimal; the token itself is nowhere. */
  readonly hash: string;
  /** Separated by spaces. */
  readonly scopes: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: Generated<number | null>;
};

export type Tables = { readonly tokens: TokenTable };
export type Database = Kysely<Tables>;

const busyTimeoutMs = 5000;
const walAttempts = 100;
const walPauseMs = 50;

/**
 * Opens the database, creates what is missing and brings its tables up to date. Several processes may do so at once.
 * @param url `file:PATH`
 */
export async function openStorage(url: string): Promise<Database> {
  try {
    const path = pathOf(url);
    makePrivate(path);
    const connection = new Libsql(path, { timeout: busyTimeoutMs });
    const database: Database = new Kysely({ dialect: new SqliteDialect({ database: connection }) });
    try {
      await enterWal(connection);
      await migrate(database);
    } catch (error) {
      await database.destroy();
      throw error;
    }
    return database;
  } catch (cause) {
    throw unavailable(cause);
  }
}

/** What a request is told is one sentence; the cause, with its paths, is for the log. */
export function unavailable(cause: unknown): Failure {
  return Object.assign(new Failure('storage_unavailable', 'The database cannot be used'), { cause });
}

/** Whether `error` says that a row with the same unique value is there already. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Libsql.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT');
}

function pathOf(url: string): string {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? 'no scheme';
  if (scheme !== 'file:' || url.length === scheme.length) {
    throw new Error(`Expected file:PATH for \`UNDERTONE_DATABASE_URL\`, got ${scheme}`);
  }
  return resolve(url.startsWith('file://') ? fileURLToPath(url) : url.slice(scheme.length));
}

/** Folders that are missing are made for their owner alone. The journals get the mode of the database file. */
function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
}

/** The change to a write-ahead log does not wait for other processes as every other statement does. */
async function enterWal(connection: Libsql.Database): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      connection.exec('pragma journal_mode = wal');
      connection.exec('pragma synchronous = normal');
      return;
    } catch (error) {
      const busy = error instanceof Libsql.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!busy || attempt === walAttempts) throw error;
      await sleep(walPauseMs);
    }
  }
}

/** One write transaction around everything the migrator does: whoever comes second finds it done. */
async function migrate(database: Database): Promise<void> {
  await database.connection().execute(async (db) => {
    await sql`begin immediate`.execute(db);
    try {
      const provider = { getMigrations: async () => migrations };
      const { error } = await new Migrator({ db, provider, disableTransactions: true }).migrateToLatest();
      if (error) throw error;
      await sql`commit`.execute(db);
    } catch (error) {
      await sql`rollback`.execute(db);
      throw error;
    }
  });
}
