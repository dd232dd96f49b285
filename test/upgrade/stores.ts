/** The records of released versions, each a folder below this one: writes the stores of a service to files, and restores them. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import Libsql from 'libsql';
import pg from 'pg';
import type { PartSpec } from '../../benchmarks/upload-body.ts';
import type { DatabaseKind } from '../../src/service/migrations.ts';
import { makeDatabaseUrl } from '../support/database.ts';
import type { JobReply } from '../support/jobs.ts';

const root = 'test/upgrade';

/** A folder for each released version. */
export const records: readonly string[] = readdirSync(root)
  .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
  .map((name) => join(root, name));

/** Sets of models in a record, each with the report of the recording next to it. */
export const models = 'models';
export const adaptedModels = 'adapted';
/** A graph of another maker in `models`. Since 2.0.0. */
export const addedModels = 'added';

export const recordingFile = 'recording.wav';

export function readRecording(record: string): Uint8Array {
  return readFileSync(join(record, recordingFile));
}

/** The parts of a recorded request, which repeats it with the same `Idempotency-Key`. */
export function partsOf(audio: Uint8Array, key: string | null): readonly PartSpec[] {
  const parts = [
    { name: 'audio', bytes: audio },
    { name: 'receipt', bytes: 'true' },
  ];
  return key === null ? parts : [...parts, { name: 'metadata', bytes: JSON.stringify({ key }) }];
}

/** Key, and its value as `DUMP` serialises it, base64. */
type RedisEntries = readonly (readonly [key: string, value: string])[];

/** Of an account with a log-in, a token, a job that is done and one that waits. */
export type ServiceRecord = {
  readonly email: string;
  readonly passphrase: string;
  readonly cookie: string;
  readonly bearer: string;
  /** The answer of GET /v1/usage. */
  readonly usage: { readonly days: readonly Readonly<Record<string, unknown>>[] };
  readonly done: JobReply;
  readonly waiting: JobReply;
  readonly redis: RedisEntries;
};

/** The embedded database below a folder of data, and the copy of one in PostgreSQL. */
export const databaseFiles = { sqlite: 'undertone.db', postgres: 'postgres.sql' } as const;

export async function dumpRedis(client: Redis): Promise<RedisEntries> {
  const keys = (await client.keys('*')).sort();
  const values = await Promise.all(keys.map((key) => client.dumpBuffer(key)));
  return keys.map((key, index) => [key, (values[index] as Buffer).toString('base64')]);
}

export async function restoreRedis(client: Redis, entries: RedisEntries): Promise<void> {
  for (const [key, value] of entries) await client.restore(key, 0, Buffer.from(value, 'base64'));
}

/** SQL that any client runs: without the lines for psql alone. */
export function dumpPostgres(url: string): string {
  const sql = execFileSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', url], {
    encoding: 'utf8',
  });
  return sql.replace(/^\\.*\n/gm, '');
}

/** SQL that moves the expiry of jobs and sessions to tomorrow, and usage to today, so that a record does not age. */
function moveToPresent(): string {
  const now = new Date();
  const tomorrow = new Date(now.getTime() + 86_400_000);
  return `update jobs set expires_at = ${tomorrow.getTime()};
    update session set "expiresAt" = '${tomorrow.toISOString()}';
    update usage set date = '${now.toISOString().slice(0, 10)}';`;
}

/** @param record folder of the record @param dataDir has a copy of its embedded database @returns its URL */
export async function restoreDatabase(kind: DatabaseKind, record: string, dataDir: string): Promise<string> {
  if (kind === 'sqlite') {
    const path = join(dataDir, databaseFiles.sqlite);
    const database = new Libsql(path);
    database.exec(moveToPresent());
    database.close();
    return `file:${path}`;
  }
  const url = await makeDatabaseUrl(kind);
  const client = new pg.Client(url);
  await client.connect();
  await client.query(readFileSync(join(record, databaseFiles.postgres), 'utf8'));
  await client.query(`set search_path to public; ${moveToPresent()}`);
  await client.end();
  return url;
}
