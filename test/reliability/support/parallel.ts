/** Maps with bounded concurrency. */

/** Results in input order; rejects with the first error. */
export async function inParallel<Thing, Result>(
  things: readonly Thing[],
  atATime: number,
  work: (thing: Thing, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  async function walk(): Promise<void> {
    while (next < things.length) {
      const index = next++;
      results[index] = await work(things[index] as Thing, index);
    }
  }
  await Promise.all(Array.from({ length: Math.min(atATime, things.length) }, walk));
  return results;
}
