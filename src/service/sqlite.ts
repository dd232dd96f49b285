/** SQLite by libsql. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  type QueryResult,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import Libsql from 'libsql';
import { ensureDir } from '../node/files.ts';
import { changeRows } from './database-transaction.ts';

/** The driver blocks the event loop: long enough for a single statement of another process. */
const busyTimeoutMs = 20;
/** Asynchronous retries while other processes write. */
const lockTimeoutMs = 5000;
const lockRetryMs = 25;
const walAttempts = 100;
const walRetryMs = 50;

/** Creates the file and its folder. Safe for processes that start together. */
export async function openSqlite(path: string): Promise<Dialect> {
  makePrivate(path);
  const connection = new Libsql(path, { timeout: busyTimeoutMs });
  try {
    await enterWal(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
  connection.exec('pragma foreign_keys = on');
  const dialect = new SqliteDialect({ database: connection });
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => new BusyRetryDriver(connection),
    createIntrospector: (database) => dialect.createIntrospector(database),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}

export type Statement = Pick<CompiledQuery, 'sql' | 'parameters'>;

/** Opens a database for statements of another thread. */
export async function openStatements(path: string) {
  const database = new Kysely<unknown>({ dialect: await openSqlite(path) });
  const toQuery = ({ sql, parameters }: Statement) => CompiledQuery.raw(sql, parameters.map(toBuffer));
  return {
    read: (statement: Statement) => database.executeQuery(toQuery(statement)),
    write: (statements: readonly Statement[]) => changeRows(database, statements.map(toQuery)),
  };
}

/** libsql stores other bytes than those of an array that is no Buffer; messages between threads have no Buffers. */
function toBuffer(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.length) : value;
}

/**
 * libsql leaves a statement that failed with SQLITE_BUSY open until it is collected or run again, which blocks every later
 * commit. So every write acquires the lock first, and only the statement that acquires it can fail this way.
 */
class BusyRetryDriver extends SqliteDriver {
  readonly #database: Libsql.Database;
  readonly #begin: Libsql.Statement;

  constructor(database: Libsql.Database) {
    super({ database });
    this.#database = database;
    this.#begin = database.prepare('begin immediate');
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    return {
      executeQuery: (query) => this.#execute(connection, query),
      streamQuery: (query, size) => connection.streamQuery(query, size),
    };
  }

  async #execute<Row>(connection: DatabaseConnection, query: CompiledQuery): Promise<QueryResult<Row>> {
    if (/^\s*begin\b/i.test(query.sql)) {
      await this.#lock();
      return { rows: [] };
    }
    if (this.#database.inTransaction || reads.test(query.sql)) return connection.executeQuery<Row>(query);
    await this.#lock();
    try {
      const result = await connection.executeQuery<Row>(query);
      this.#database.exec('commit');
      return result;
    } catch (error) {
      if (this.#database.inTransaction) this.#database.exec('rollback');
      throw error;
    }
  }

  async #lock(): Promise<void> {
    const until = performance.now() + lockTimeoutMs;
    for (;;) {
      try {
        this.#begin.run();
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() > until) throw error;
        await sleep(lockRetryMs);
      }
    }
  }
}

const reads = /^\s*(select|pragma)\b/i;

function isBusy(error: unknown): boolean {
  return error instanceof Libsql.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/**
 * Journals inherit the mode of the database file. A file that exists is not opened: closing a descriptor of it would release
 * all POSIX locks that the process has on it (https://sqlite.org/howtocorrupt.html, 2.2).
 */
function makePrivate(path: string): void {
  ensureDir(dirname(path));
  if (!existsSync(path)) writeFileSync(path, '', { flag: 'a', mode: 0o600 });
  chmodSync(path, 0o600);
}

/** Switching to WAL ignores the busy timeout, so it is retried here. */
async function enterWal(connection: Libsql.Database): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      connection.exec('pragma journal_mode = wal');
      connection.exec('pragma synchronous = normal');
      return;
    } catch (error) {
      if (!isBusy(error) || attempt === walAttempts) throw error;
      await sleep(walRetryMs);
    }
  }
}
