/** Writes to the database that no request waits for: some seconds after the data was added, and again while the database is unreachable. */
import type { Logger } from 'pino';

const writeMs = 15_000;

/**
 * @param write keeps what it cannot write
 * @param observe settles as the attempt does
 */
export function createDelayedWrite(
  write: () => Promise<void>,
  observe: (attempt: Promise<void>) => Promise<void> = (attempt) => attempt,
) {
  let timer: NodeJS.Timeout | null = null;

  /** Writes within `writeMs`. */
  function schedule(): void {
    timer ??= setTimeout(() => void flush().catch(() => {}), writeMs).unref();
  }

  /** Writes now. @throws what `write` throws, after scheduling another attempt */
  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    try {
      await observe(write());
    } catch (error) {
      schedule();
      throw error;
    }
  }

  return { schedule, flush };
}

/** Deletion of expired rows, counts of usage, and last uses of tokens. */
export type BackgroundWrite = 'expiry' | 'usage' | 'last_used';

export type WriteFailures = ReturnType<typeof createWriteFailures>;

const logAgainMs = 600_000;

export function createWriteFailures(logger: Pick<Logger, 'info' | 'warn'>) {
  const counts = { expiry: 0, usage: 0, last_used: 0 };
  const loggedAt = new Map<BackgroundWrite, number>();
  return {
    /** Failed attempts since the start. */
    counts: (): Readonly<Record<BackgroundWrite, number>> => counts,
    /** Settles as the attempt does. */
    async observe(write: BackgroundWrite, attempt: Promise<void>): Promise<void> {
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
