/** The lock of the embedded database: jobs in the memory of one service are lost jobs to another one. */
import {
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  realpathSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { ensureDir } from '../node/files.ts';
import { lockFile } from '../node/process.ts';
import type { Config } from './config.ts';
import { databaseKind, databaseUnavailable, sqlitePath, withPath } from './database.ts';
import { ServiceError } from './errors.ts';

/**
 * Keeps other services from the database until the process ends, however it ends; services with one Redis share it.
 * Commands and workers need no lock. @throws ServiceError `storage_unavailable`
 */
export async function lockDatabase(
  { databaseUrl, redisUrl }: Pick<Config, 'databaseUrl' | 'redisUrl'>,
  logger: Pick<Logger, 'warn'>,
): Promise<void> {
  if (databaseKind(databaseUrl) !== 'sqlite') return;
  const path = sqlitePath(databaseUrl);
  const lockPath = `${existsSync(path) ? realpathSync(path) : path}.lock`;
  const descriptor = openFile(lockPath);
  try {
    if (!lockFile(descriptor, redisUrl === null)) throw inUse(path, lockPath);
  } catch (error) {
    closeSync(descriptor);
    if (error instanceof ServiceError) throw error;
    logger.warn({ err: error }, 'the file system has no locks: run one service on this database');
    return;
  }
  writeHolder(descriptor);
}

/** @throws ServiceError `storage_unavailable` */
function openFile(path: string): number {
  try {
    ensureDir(dirname(path));
    return openSync(path, 'a', 0o600);
  } catch (cause) {
    throw databaseUnavailable(withPath(cause, path.replace(/\.lock$/, '')));
  }
}

const holderPattern = /^process \d+ on \S{1,255} since \S{24}$/;

function writeHolder(descriptor: number): void {
  const since = new Date().toISOString();
  try {
    ftruncateSync(descriptor);
    writeSync(descriptor, `process ${process.pid} on ${hostname()} since ${since}\n`);
  } catch {
    // On a full disk: the lock holds without a name.
  }
}

function inUse(path: string, lockPath: string): ServiceError {
  const [line = ''] = readFileSync(lockPath, 'utf8').split('\n');
  const holder = holderPattern.test(line) ? line : 'another process';
  return new ServiceError(
    'storage_unavailable',
    `Expected a database that no other service uses, got ${path}, in use by ${holder}: stop it, choose another \`UNDERTONE_DATA_DIR\`, or set UNDERTONE_REDIS_URL for all of them`,
  );
}
