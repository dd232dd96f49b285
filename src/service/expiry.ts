/** Deletes rows whose time is over. Every process that keeps the database open does so. */
import { firstUsageDay } from './auth/usage.ts';
import type { WriteFailures } from './background-writes.ts';
import { createDeletionClock } from './clock.ts';
import { type Database, runQuery } from './database.ts';

/** Jobs that have not ended outlive their time by this: a clock that is ahead ends none that waits or runs. */
const openJobMs = 3 * 86_400_000;
const sweepMs = 60_000;

/** @param now ms since 1970 @throws ServiceError `storage_unavailable` */
export async function deleteExpired(database: Database, now: number): Promise<void> {
  const sessionTokens = database.deleteFrom('tokens').where('session', 'is not', null);
  for (const expired of [
    database.deleteFrom('jobs').where('outcome', 'is not', null).where('expires_at', '<=', now),
    database.deleteFrom('jobs').where('expires_at', '<=', now - openJobMs),
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
  const now = createDeletionClock();
  let running = Promise.resolve();
  const sweep = () => {
    running = running.then(() => failures.observe('expiry', deleteExpired(database, now()))).catch(() => {});
  };
  sweep();
  const timer = setInterval(sweep, intervalMs).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
