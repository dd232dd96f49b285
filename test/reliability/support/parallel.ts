/** Maps with bounded concurrency. */

/** Results in input order; rejects with the first error. `what`: shown with the progress. */
export async function inParallel<Thing, Result>(
  things: readonly Thing[],
  atATime: number,
  work: (thing: Thing, index: number) => Promise<Result>,
  what?: string,
): Promise<Result[]> {
  const progress = what === undefined ? null : startProgress(what, things.length);
  const results: Result[] = [];
  let next = 0;
  async function walk(): Promise<void> {
    while (next < things.length) {
      const index = next++;
      results[index] = await work(things[index] as Thing, index);
      progress?.advance();
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(atATime, things.length) }, walk));
  } finally {
    progress?.stop();
  }
  return results;
}

// Progress on standard error: a line every 10 s.

type Progress = { advance(): void; stop(): void };

const everyMs = 10_000;

export function startProgress(what: string, total: number): Progress {
  const startedAt = performance.now();
  let done = 0;
  const print = () => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stderr.write(`${what} ${done}/${total}, ${seconds} s\n`);
  };
  const timer = setInterval(print, everyMs);
  return {
    advance: () => {
      done++;
    },
    stop: () => {
      clearInterval(timer);
      print();
    },
  };
}
