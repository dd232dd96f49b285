/** The database on a PostgreSQL server, for several machines that share their accounts. */
import { PostgresDialect } from 'kysely';
import pg from 'pg';

const connections = 10;
const connectMs = 10_000;
/** Every query of ours takes milliseconds; one that does not end must not hold its request. */
const queryMs = 10_000;

export function openPostgres(url: string): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectMs,
    query_timeout: queryMs,
    application_name: 'undertone',
  });
  // A connection that breaks while it is idle: the next query opens another, or says why it cannot.
  pool.on('error', () => {});
  return new PostgresDialect({ pool });
}
