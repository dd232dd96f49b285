/** Maps with bounded concurrency. */
import { startProgress } from './progress.ts';

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
