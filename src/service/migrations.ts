/** Migrations in the order of their names. Released migrations are never edited. */
import { randomUUID } from 'node:crypto';
import { type ColumnDefinitionBuilder, type Kysely, type Migration, sql } from 'kysely';
import { piecesOf } from './result-pieces.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

export function migrationsFor(kind: DatabaseKind): Record<string, Migration> {
  return {
    '0001-schema': { up: (database) => createSchema(database, kind) },
    '0002-job-bytes': { up: addJobBytes },
    '0003-job-body-last': { up: (database) => moveBodyLast(database, kind) },
    '0004-job-pieces': { up: (database) => moveResults(database, kind) },
  };
}

async function createSchema(database: Kysely<unknown>, kind: DatabaseKind): Promise<void> {
  await createUsers(database, kind);
  await createAdministrators(database);
  await createTokens(database);
  await createJobs(database);
  await createInstallation(database);
  await createPlaygroundCodes(database);
  await createUsageCounts(database);
}

const required = (column: ColumnDefinitionBuilder) => column.notNull();
const identity = (column: ColumnDefinitionBuilder) => column.primaryKey().notNull();
const ofUser = (column: ColumnDefinitionBuilder) => column.references('user.id').onDelete('cascade');

/** The tables of better-auth, as its generator creates them, which takes 0.5 s to load. */
async function createUsers(database: Kysely<unknown>, kind: DatabaseKind): Promise<void> {
  const time = kind === 'postgres' ? 'timestamptz' : 'date';
  const flag = kind === 'postgres' ? 'boolean' : 'integer';
  const createTable = (name: string) => database.schema.createTable(name).addColumn('id', 'text', identity);
  await createTable('user')
    .addColumn('name', 'text', required)
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('emailVerified', flag, required)
    .addColumn('image', 'text')
    .addColumn('createdAt', time, required)
    .addColumn('updatedAt', time, required)
    .execute();
  await createTable('session')
    .addColumn('expiresAt', time, required)
    .addColumn('token', 'text', (column) => column.notNull().unique())
    .addColumn('createdAt', time, required)
    .addColumn('updatedAt', time, required)
    .addColumn('ipAddress', 'text')
    .addColumn('userAgent', 'text')
    .addColumn('userId', 'text', (column) => ofUser(column).notNull())
    .execute();
  await createTable('account')
    .addColumn('accountId', 'text', required)
    .addColumn('providerId', 'text', required)
    .addColumn('userId', 'text', (column) => ofUser(column).notNull())
    .addColumn('accessToken', 'text')
    .addColumn('refreshToken', 'text')
    .addColumn('idToken', 'text')
    .addColumn('accessTokenExpiresAt', time)
    .addColumn('refreshTokenExpiresAt', time)
    .addColumn('scope', 'text')
    .addColumn('password', 'text')
    .addColumn('createdAt', time, required)
    .addColumn('updatedAt', time, required)
    .execute();
  await createTable('verification')
    .addColumn('identifier', 'text', required)
    .addColumn('value', 'text', required)
    .addColumn('expiresAt', time, required)
    .addColumn('createdAt', time, required)
    .addColumn('updatedAt', time, required)
    .execute();
  await createIndices(database, [
    ['session', 'userId'],
    ['account', 'userId'],
    ['verification', 'identifier'],
  ]);
}

async function createIndices(
  database: Kysely<unknown>,
  columns: readonly (readonly [table: string, column: string])[],
): Promise<void> {
  for (const [table, column] of columns) {
    await database.schema.createIndex(`${table}_${column}_idx`).on(table).column(column).execute();
  }
}

/**
 * The unique row with `first` = 1 belongs to the first account and outlives it. During the first sign-up it has no owner and
 * the time of the claim.
 */
async function createAdministrators(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('administrators')
    .addColumn('owner', 'text', (column) => column.unique().references('user.id').onDelete('set null'))
    .addColumn('first', 'integer', (column) => column.unique())
    .addColumn('claimed_at', 'bigint')
    .execute();
}

/** Tokens are deleted with their account, session tokens with their session. */
async function createTokens(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('tokens')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', required)
    .addColumn('prefix', 'text', required)
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('scopes', 'text', required)
    .addColumn('created_at', 'bigint', required)
    .addColumn('expires_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .addColumn('owner', 'text', ofUser)
    .addColumn('session', 'text', (column) => column.references('session.id').onDelete('cascade'))
    .addColumn('last_used_at', 'bigint')
    .addColumn('purpose', 'text')
    .execute();
  await createIndices(database, [
    ['tokens', 'owner'],
    ['tokens', 'session'],
  ]);
  // Names are unique per account; those of revoked tokens can be reused.
  await sql`create unique index tokens_live_name on tokens (coalesce(owner, ''), name)
    where revoked_at is null and session is null`.execute(database);
}

async function createJobs(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('jobs')
    .addColumn('id', 'text', identity)
    .addColumn('holder', 'text', required)
    .addColumn('owner', 'text', ofUser)
    .addColumn('idempotency_key', 'text')
    .addColumn('created_at', 'bigint', required)
    .addColumn('expires_at', 'bigint', required)
    .addColumn('finished_at', 'bigint')
    .addColumn('outcome', 'text')
    .addColumn('body', 'text')
    .addColumn('digest', 'text')
    .addColumn('metadata', 'text')
    .addUniqueConstraint('jobs_idempotency_key', ['holder', 'idempotency_key'])
    .execute();
  await createIndices(database, [
    ['jobs', 'owner'],
    ['jobs', 'expires_at'],
  ]);
  await database.schema
    .createIndex('jobs_holder_created_at_idx')
    .on('jobs')
    .columns(['holder', 'created_at', 'id'])
    .execute();
}

/** The size of `body`: the total of an account is read from the index alone. */
async function addJobBytes(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('jobs').addColumn('bytes', 'bigint').execute();
  await sql`update jobs set bytes = octet_length(body)`.execute(database);
  await database.schema
    .createIndex('jobs_holder_bytes_idx')
    .on('jobs')
    .columns(['holder', 'bytes'])
    .execute();
}

/** SQLite reads a result of megabytes to find the columns after it. PostgreSQL stores it elsewhere. */
async function moveBodyLast(database: Kysely<unknown>, kind: DatabaseKind): Promise<void> {
  if (kind === 'postgres') return;
  await database.schema.alterTable('jobs').addColumn('last', 'text').execute();
  await sql`update jobs set last = body`.execute(database);
  await database.schema.alterTable('jobs').dropColumn('body').execute();
  await database.schema.alterTable('jobs').renameColumn('last', 'body').execute();
}

/** Results leave `jobs.body`, which errors stay in, for rows of pieces. */
async function moveResults(database: Kysely<unknown>, kind: DatabaseKind): Promise<void> {
  await database.schema
    .createTable('job_pieces')
    .addColumn('job', 'text', (column) => column.notNull().references('jobs.id').onDelete('cascade'))
    .addColumn('number', 'integer', required)
    .addColumn('json', kind === 'postgres' ? 'bytea' : 'blob', required)
    .addPrimaryKeyConstraint('job_pieces_pkey', ['job', 'number'])
    .execute();
  const done = await sql<{ id: string }>`select id from jobs where outcome = 'done'`.execute(database);
  for (const { id } of done.rows) {
    const stored = await sql<{ body: string }>`select body from jobs where id = ${id}`.execute(database);
    for (const { body } of stored.rows) {
      for (const { job, number, json } of piecesOf(id, Buffer.from(body))) {
        await sql`insert into job_pieces (job, number, json) values (${job}, ${number}, ${json})`.execute(
          database,
        );
      }
    }
    await sql`update jobs set body = null where id = ${id}`.execute(database);
  }
}

/** Identifies the database. */
async function createInstallation(database: Kysely<unknown>): Promise<void> {
  await database.schema.createTable('installation').addColumn('id', 'text', identity).execute();
  await sql`insert into installation (id) values (${randomUUID()})`.execute(database);
}

async function createPlaygroundCodes(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('playground_codes')
    .addColumn('hash', 'text', identity)
    .addColumn('expires_at', 'bigint', required)
    .execute();
}

/** Counts per token and UTC day. Tokens of log-ins have no row of their own. */
async function createUsageCounts(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('usage')
    .addColumn('token', 'text', required)
    .addColumn('date', 'text', required)
    .addColumn('owner', 'text', ofUser)
    .addColumn('requests', 'bigint', required)
    .addColumn('errors', 'bigint', required)
    .addColumn('audio_ms', 'bigint', required)
    .addPrimaryKeyConstraint('usage_pkey', ['token', 'date'])
    .execute();
  await createIndices(database, [
    ['usage', 'owner'],
    ['usage', 'date'],
  ]);
}
