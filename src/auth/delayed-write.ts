/** Writes collected data some seconds after it was added, and again while the database is unreachable. */

export type DelayedWrite = {
  /** Writes within `writeMs`. */
  schedule(): void;
  /** Writes now. @throws what `write` throws, after scheduling another attempt */
  flush(): Promise<void>;
};

const writeMs = 15_000;

/**
 * @param write keeps what it cannot write
 * @param observe settles as the attempt does
 */
export function createDelayedWrite(
  write: () => Promise<void>,
  observe: (attempt: Promise<void>) => Promise<void> = (attempt) => attempt,
): DelayedWrite {
  let timer: NodeJS.Timeout | null = null;

  function schedule(): void {
    timer ??= setTimeout(() => void flush().catch(() => {}), writeMs).unref();
  }

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
