/** The database in a file of our own: SQLite by libsql. */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import Libsql from 'libsql';
import { ensureDir } from '../runtime/ensure-dir.ts';

/** The driver waits with the whole process: just for another's statement. */
const busyTimeoutMs = 20;
/** How long the lock is tried again, with the process going on, while others write. */
const busyMs = 5000;
const busyPauseMs = 25;
const walAttempts = 100;
const walPauseMs = 50;

/** Creates the file and its folder when they are missing. Several processes may do so at once. */
export async function openSqlite(url: string): Promise<Dialect> {
  const path = pathOf(url);
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

/**
 * libsql leaves a statement that came too early (SQLITE_BUSY) open until it is collected or run again, and with
 * it nothing more is ever committed. So nothing is written without the lock, and only its statement can come too early.
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
    const until = performance.now() + busyMs;
    for (;;) {
      try {
        this.#begin.run();
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() > until) throw error;
        await sleep(busyPauseMs);
      }
    }
  }
}

const reads = /^\s*(select|pragma)\b/i;

function isBusy(error: unknown): boolean {
  return error instanceof Libsql.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

function pathOf(url: string): string {
  return resolve(url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length));
}

/** Folders that are missing are made for their owner alone. The journals get the mode of the database file. */
function makePrivate(path: string): void {
  ensureDir(dirname(path));
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
      if (!isBusy(error) || attempt === walAttempts) throw error;
      await sleep(walPauseMs);
    }
  }
}
