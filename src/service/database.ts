/** Opens the database, SQLite or PostgreSQL, behind the types of Kysely. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Dialect, type Generated, Kysely, Migrator, sql } from 'kysely';
import { ServiceError } from './errors.ts';
import { type DatabaseKind, migrationsFor } from './migrations.ts';

export { type CompiledQuery, type QueryResult, type Selectable, sql } from 'kysely';

/** Times are ms since 1970. */
export type TokenTable = {
  readonly id: string;
  readonly name: string;
  /** The first characters of the token, to recognise it. */
  readonly prefix: string;
  /** SHA-256 of the token in hexadecimal; the token itself is not stored. */
  readonly hash: string;
  /** Separated by spaces. */
  readonly scopes: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: Generated<number | null>;
  /** Id of the account; null for the command line. */
  readonly owner: string | null;
  /** The session of a session token, which ends with it; null for other tokens. */
  readonly session: string | null;
  /** Start of the minute of the last use. */
  readonly last_used_at: Generated<number | null>;
  /** What the scores are for; null without a declaration. */
  readonly purpose: string | null;
};

type AdministratorTable = {
  /** Null once the account is deleted. */
  readonly owner: string | null;
  /** 1 for the first account; unique. */
  readonly first: 1 | null;
  /** Time of the claim of a sign-up; null once the account exists. */
  readonly claimed_at: Generated<number | null>;
};

/** The columns of better-auth that are used here. */
type UserTable = { readonly id: string; readonly email: string };

export type JobTable = {
  readonly id: string;
  /** `account:ID`, or `token:ID` for a token without an account. */
  readonly holder: string;
  /** Id of the account; deleting it deletes the job. */
  readonly owner: string | null;
  /** Unique per holder. */
  readonly idempotency_key: string | null;
  /** From `digestRequest`; null without a key. */
  readonly digest: string | null;
  /** From `encryptMetadata`; null without metadata. */
  readonly metadata: Generated<string | null>;
  readonly created_at: number;
  readonly expires_at: number;
  readonly finished_at: Generated<number | null>;
  readonly outcome: Generated<'done' | 'failed' | null>;
  /** JSON of the error. */
  readonly body: Generated<string | null>;
  /** Of the result or the error. */
  readonly bytes: Generated<number | null>;
};

/** Deleted with their job. */
type JobPieceTable = {
  readonly job: string;
  /** From 0. */
  readonly number: number;
  /** UTF-8, a part of the report. */
  readonly json: Uint8Array;
};

type PlaygroundCodeTable = {
  /** SHA-256 of the code in hexadecimal. */
  readonly hash: string;
  readonly expires_at: number;
};

type UsageTable = {
  /** Id of a token; `playground:` and the account for its session tokens. */
  readonly token: string;
  /** UTC, YYYY-MM-DD. */
  readonly date: string;
  /** Id of the account; null for the command line. */
  readonly owner: string | null;
  readonly requests: number;
  readonly errors: number;
  readonly audio_ms: number;
};

type Tables = {
  readonly jobs: JobTable;
  readonly job_pieces: JobPieceTable;
  readonly tokens: TokenTable;
  readonly administrators: AdministratorTable;
  readonly playground_codes: PlaygroundCodeTable;
  readonly usage: UsageTable;
  readonly user: UserTable;
  /** Log-ins. */
  readonly session: { readonly id: string };
  /** One row, created with the database. */
  readonly installation: { readonly id: string };
};
export type Database = Kysely<Tables>;

/** Opens the database and applies migrations. Safe for processes that start together. */
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
    throw databaseUnavailable(/^file:./.test(url) ? withPath(cause, url.slice('file:'.length)) : cause);
  }
}

/** Opens the database for one piece of work. */
export async function withDatabase<Result>(
  url: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(url);
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}

/** Writes the journal of an embedded database into its file: a copy of the file alone is then complete. */
export async function checkpoint(database: Database, url: string): Promise<void> {
  if (databaseKind(url) === 'sqlite') await sql`pragma wal_checkpoint(truncate)`.execute(database);
}

/** @throws Error unless the URL is `file:PATH` or `postgres://...` */
export function databaseKind(url: string): DatabaseKind {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? 'no scheme';
  if (/^postgres(ql)?:\/\/./.test(url)) return 'postgres';
  if (/^file:./.test(url)) return 'sqlite';
  const expected = 'file:PATH or postgres://USER@HOST/DATABASE';
  throw new Error(`Expected ${expected} for \`UNDERTONE_DATABASE_URL\`, got ${scheme}`);
}

/** @param url `file:PATH` */
export function sqlitePath(url: string): string {
  return resolve(url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length));
}

/** For the operator: errors of SQLite, such as that of a full disk, name no file. */
export function withPath(cause: unknown, path: string): Error {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new Error(message.includes(path) ? message : `${message}: ${path}`, { cause });
}

/** The cause, which contains paths, is logged and never sent. */
export function databaseUnavailable(cause: unknown): ServiceError {
  return new ServiceError('storage_unavailable', 'The database is unavailable', { cause });
}

/** @throws ServiceError `storage_unavailable` */
export async function runQuery<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (cause) {
    throw databaseUnavailable(cause);
  }
}

export function isUniqueViolation(error: unknown): boolean {
  return /^(SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)|23505)$/.test(codeOf(error));
}

export function isForeignKeyViolation(error: unknown): boolean {
  return /^(SQLITE_CONSTRAINT_FOREIGNKEY|23503)$/.test(codeOf(error));
}

/** Whether a database driver threw the error; errors of better-auth have no such code. */
export function isOfDriver(error: unknown): boolean {
  return /^(SQLITE_\w+|[0-9A-Z]{5}|E[A-Z]+)$/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Imported once: a second call would keep the empty report of the first. */
let sqlite: ReturnType<typeof importSqlite> | null = null;

/** Loads only the driver that is used. */
async function dialectOf(kind: DatabaseKind, url: string): Promise<Dialect> {
  if (kind === 'sqlite') {
    sqlite ??= importSqlite();
    return (await sqlite).openSqlite(sqlitePath(url));
  }
  return (await import('./postgres.ts')).openPostgres(url);
}

/**
 * libsql takes the name of the C library from a report of the process. A report waits for every thread, also for one inside the
 * model runtime. With an empty report libsql reads the name from a file.
 */
async function importSqlite() {
  const { getReport } = process.report;
  process.report.getReport = () => ({});
  try {
    return await import('./sqlite.ts');
  } finally {
    process.report.getReport = getReport;
  }
}

/** Key of the advisory lock of migrations; the same in every release. */
const migrationLock = 8_316_244_201;

/** The default compares by locale, whose data takes 14 ms to load. */
const compareNames = (one: string, other: string) => (one < other ? -1 : Number(one > other));

/** Runs all migrations in one write transaction: other processes wait for it. */
async function migrate(database: Database, kind: DatabaseKind): Promise<void> {
  await database.connection().execute(async (db) => {
    await (kind === 'sqlite' ? sql`begin immediate` : sql`begin`).execute(db);
    try {
      if (kind === 'postgres') await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(db);
      const provider = { getMigrations: async () => migrationsFor(kind) };
      const options = { db, provider, nameComparator: compareNames, disableTransactions: true };
      const { error } = await new Migrator(options).migrateToLatest();
      if (error) throw error;
      await sql`commit`.execute(db);
    } catch (error) {
      // After a full disk, SQLite has rolled back by itself.
      await sql`rollback`.execute(db).catch(() => {});
      throw error;
    }
  });
}
