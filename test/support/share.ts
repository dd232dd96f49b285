/** What the tests of a file share. */
import type { TestFn } from 'ava';

export type Teardown = { teardown(clean: () => unknown): void };

/** Starts a thing before the first test of the file, and closes it after the last one. */
export function share<Thing>(
  test: Pick<TestFn, 'before' | 'after'>,
  start: (t: Teardown) => Promise<Thing>,
): () => Thing {
  const closers: (() => unknown)[] = [];
  let thing: Thing | undefined;
  test.before(async () => {
    thing = await start({ teardown: (close) => closers.push(close) });
  });
  test.after.always(async () => {
    for (const close of closers.reverse()) await close();
  });
  return () => {
    if (thing === undefined) throw new Error('Expected a running test, got none');
    return thing;
  };
}
