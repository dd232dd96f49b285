/** PostgreSQL, for several machines that share accounts. */
import { PostgresDialect } from 'kysely';
import pg from 'pg';

const connections = 10;
const connectMs = 10_000;
/** Queries take milliseconds; a blocked one must not hold its request. */
const queryMs = 10_000;

export function openPostgres(url: string): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectMs,
    query_timeout: queryMs,
    application_name: 'undertone',
  });
  // A connection that breaks fails the query or the transaction that uses it, and the next query opens another.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return new PostgresDialect({ pool });
}
