/** Steps from an empty database to the present tables, in the order of their names. A step that was released is never edited. */
import { type Kysely, type Migration, sql } from 'kysely';

async function createTokens(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('tokens')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('prefix', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .execute();
  // A name may be used again once its token is revoked.
  await database.schema
    .createIndex('tokens_live_name')
    .unique()
    .on('tokens')
    .column('name')
    .where(sql.ref('revoked_at'), 'is', null)
    .execute();
}

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-tokens': { up: createTokens },
};
