/** The database in a file of our own: SQLite by libsql. */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Dialect, SqliteDialect } from 'kysely';
import Libsql from 'libsql';
import { makeFolder } from '../folder.ts';

const busyTimeoutMs = 5000;
const walAttempts = 100;
const walPauseMs = 50;

/** Creates the file and its folder when they are missing. Several processes may do so at once. */
export async function openEmbedded(url: string): Promise<Dialect> {
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
  return new SqliteDialect({ database: connection });
}

function pathOf(url: string): string {
  return resolve(url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length));
}

/** Folders that are missing are made for their owner alone. The journals get the mode of the database file. */
function makePrivate(path: string): void {
  makeFolder(dirname(path));
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
