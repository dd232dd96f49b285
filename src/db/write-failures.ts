/** Failures of writes that no request waits for: counted, and logged when they begin, now and then, and when they end. */
import type { Logger } from 'pino';

/** Deletion of expired rows, counts of usage, and last uses of tokens. */
export type BackgroundWrite = 'expiry' | 'usage' | 'last_used';

export type WriteFailures = {
  /** Settles as the attempt does. */
  observe(write: BackgroundWrite, attempt: Promise<void>): Promise<void>;
  /** Failed attempts since the start. */
  counts(): Readonly<Record<BackgroundWrite, number>>;
};

const logAgainMs = 600_000;

export function createWriteFailures(logger: Pick<Logger, 'info' | 'warn'>): WriteFailures {
  const counts = { expiry: 0, usage: 0, last_used: 0 };
  const loggedAt = new Map<BackgroundWrite, number>();
  return {
    counts: () => counts,
    async observe(write, attempt) {
      try {
        await attempt;
      } catch (error) {
        counts[write]++;
        const now = performance.now();
        if (now - (loggedAt.get(write) ?? Number.NEGATIVE_INFINITY) >= logAgainMs) {
          loggedAt.set(write, now);
          logger.warn({ err: error, write }, 'cannot write to the database: tried again until it works');
        }
        throw error;
      }
      if (loggedAt.delete(write)) logger.info({ write }, 'the database is written again');
    },
  };
}
