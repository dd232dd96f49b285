/** Deletes rows whose time is over. Every process that keeps the database open does so. */
import { type Database, runQuery } from './database.ts';
import type { WriteFailures } from './write-failures.ts';

/** Days of the counts of usage, today included. */
export const usageDays = 90;

const dayMs = 86_400_000;
const sweepMs = 60_000;

/** The UTC day, YYYY-MM-DD. @param time ms since 1970 */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** The first day of the counts that are kept. @param now ms since 1970 */
export function firstUsageDay(now: number): string {
  return dayOf(now - (usageDays - 1) * dayMs);
}

/** @param now ms since 1970 @throws ServiceError `storage_unavailable` */
export async function deleteExpired(database: Database, now: number): Promise<void> {
  const sessionTokens = database.deleteFrom('tokens').where('session', 'is not', null);
  for (const expired of [
    database.deleteFrom('jobs').where('expires_at', '<=', now),
    database.deleteFrom('playground_codes').where('expires_at', '<=', now),
    sessionTokens.where('expires_at', '<=', now),
    database.deleteFrom('usage').where('date', '<', firstUsageDay(now)),
  ]) {
    await runQuery(expired.execute());
  }
}

/** Deletes expired rows now and every minute. @returns a function that ends it and resolves after the last statement */
export function keepDeletingExpired(
  database: Database,
  failures: WriteFailures,
  intervalMs = sweepMs,
): () => Promise<void> {
  let running = Promise.resolve();
  const sweep = () => {
    running = running
      .then(() => failures.observe('expiry', deleteExpired(database, Date.now())))
      .catch(() => {});
  };
  sweep();
  const timer = setInterval(sweep, intervalMs).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
