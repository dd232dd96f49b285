/** Opens the database, embedded or PostgreSQL. Everybody else sees Kysely's types and never which one it is. */
import { type Dialect, type Generated, Kysely, Migrator, sql } from 'kysely';
import { ServiceError } from '../runtime/errors.ts';
import { migrationsFor } from './migrations.ts';

export type { Selectable } from 'kysely';

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
  /** The account that made it; null when it was made on the command line. */
  readonly owner: string | null;
  /** The log-in that it lives and dies with; null for tokens that were asked for by name. */
  readonly session: string | null;
  /** The beginning of the minute in which it was last used. */
  readonly last_used_at: Generated<number | null>;
};

export type AdministratorTable = {
  /** Null once the account is gone. */
  readonly owner: string | null;
  /** 1 for the very first account; unique, so that there is only one. */
  readonly first: 1 | null;
  /** When a sign-up claimed to be the first; null once it is. */
  readonly claimed_at: Generated<number | null>;
};

/** What better-auth writes, as far as we read it. */
export type UserTable = { readonly id: string; readonly email: string };

export type JobTable = {
  readonly id: string;
  /** Whose it is: `account:ID`, or `token:ID` when the token belongs to no account. */
  readonly holder: string;
  /** The job goes with its account. */
  readonly owner: string | null;
  /** Of the request that made it; unique within a holder. */
  readonly idempotency_key: string | null;
  /** Keyed digest of the request that the key was used for; null without a key, and in rows of earlier releases. */
  readonly digest: string | null;
  readonly created_at: number;
  readonly expires_at: number;
  readonly finished_at: Generated<number | null>;
  readonly outcome: Generated<'done' | 'failed' | null>;
  /** JSON: the report, or why there is none. */
  readonly body: Generated<string | null>;
};

export type Tables = {
  readonly jobs: JobTable;
  readonly tokens: TokenTable;
  readonly administrators: AdministratorTable;
  readonly user: UserTable;
  /** One row, made with the database. */
  readonly installation: { readonly id: string };
};
export type Database = Kysely<Tables>;
export type DatabaseKind = 'sqlite' | 'postgres';

/** Opens the database and brings its tables up to date. Several processes may do so at once. */
export async function openDatabase(url: string): Promise<Database> {
  try {
    const kind = databaseKind(url);
    const database: Database = new Kysely({ dialect: await dialectOf(kind, url) });
    try {
      await migrate(database, kind);
    } catch (error) {
      await database.destroy();
      throw error;
    }
    return database;
  } catch (cause) {
    throw databaseUnavailable(cause);
  }
}

/** @throws Error when the address is neither `file:PATH` nor `postgres://...` */
export function databaseKind(url: string): DatabaseKind {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? 'no scheme';
  if (/^postgres(ql)?:\/\/./.test(url)) return 'postgres';
  if (/^file:./.test(url)) return 'sqlite';
  const expected = 'file:PATH or postgres://USER@HOST/DATABASE';
  throw new Error(`Expected ${expected} for \`UNDERTONE_DATABASE_URL\`, got ${scheme}`);
}

/** What a request is told is one sentence; the cause, with its paths, is for the log. */
export function databaseUnavailable(cause: unknown): ServiceError {
  return new ServiceError('storage_unavailable', 'The database cannot be used', { cause });
}

/** Waits for a query. @throws Failure `storage_unavailable` when it fails */
export async function runQuery<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (cause) {
    throw databaseUnavailable(cause);
  }
}

/** Whether `error` says that a row with the same unique value is there already. */
export function isUniqueViolation(error: unknown): boolean {
  return /^(SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)|23505)$/.test(codeOf(error));
}

/** Whether `error` says that what the row belongs to is gone. */
export function isForeignKeyViolation(error: unknown): boolean {
  return /^(SQLITE_CONSTRAINT_FOREIGNKEY|23503)$/.test(codeOf(error));
}

/** Whether a driver of a database says it, of a full disk or a lock for instance; better-auth's errors have no such code. */
export function isOfDriver(error: unknown): boolean {
  return /^(SQLITE_\w+|[0-9A-Z]{5}|E[A-Z]+)$/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Only the driver that is needed is loaded. */
async function dialectOf(kind: DatabaseKind, url: string): Promise<Dialect> {
  if (kind === 'sqlite') return (await import('./sqlite.ts')).openSqlite(url);
  return (await import('./postgres.ts')).openPostgres(url);
}

/** Any number, the same in every version: PostgreSQL's name for the lock that migrations are made under. */
const migrationLock = 8_316_244_201;

/** One write transaction around everything the migrator does: whoever comes second finds it done. */
async function migrate(database: Database, kind: DatabaseKind): Promise<void> {
  await database.connection().execute(async (db) => {
    await (kind === 'sqlite' ? sql`begin immediate` : sql`begin`).execute(db);
    try {
      if (kind === 'postgres') await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(db);
      const provider = { getMigrations: async () => migrationsFor(kind) };
      const { error } = await new Migrator({ db, provider, disableTransactions: true }).migrateToLatest();
      if (error) throw error;
      await sql`commit`.execute(db);
    } catch (error) {
      await sql`rollback`.execute(db);
      throw error;
    }
  });
}
