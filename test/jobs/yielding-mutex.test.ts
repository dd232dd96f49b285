/** Turns of analyses in one thread. */
import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises';
import test from 'ava';
import { createYieldingMutex } from '../../src/service/fair-share.ts';

test('one analysis runs at a time, in the order in which they came', async (t) => {
  const turns = createYieldingMutex();
  const events: string[] = [];
  const work = (name: string) =>
    turns.runExclusive(async () => {
      events.push(`${name} begins`);
      await sleep(5);
      events.push(`${name} ends`);
    });
  await Promise.all(['a', 'b', 'c'].map(work));
  t.deepEqual(events, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('a long analysis lets others run between its chunks, also those that come one after the other', async (t) => {
  const turns = createYieldingMutex();
  const events: string[] = [];
  const short = (name: string) =>
    turns.runExclusive(async () => {
      events.push(name);
      await sleep(40);
    });
  const long = turns.runExclusive(async () => {
    for (const chunk of [1, 2]) {
      events.push(`chunk ${chunk}`);
      await sleep(2000);
      await turns.yieldToOthers();
    }
  });
  await tick();
  const names = ['first', 'second', 'third', 'fourth', 'fifth'];
  for (const name of names) await short(name);
  t.deepEqual(events, ['chunk 1', ...names]);
  await long;
  t.deepEqual(events.slice(6), ['chunk 2']);
});

test('a long analysis continues while others keep arriving', async (t) => {
  const turns = createYieldingMutex();
  let chunks = 0;
  const long = turns.runExclusive(async () => {
    for (; chunks < 3; chunks++) {
      await sleep(20);
      await turns.yieldToOthers();
    }
  });
  let shorts = 0;
  while (chunks < 3) {
    await turns.runExclusive(() => sleep(5));
    shorts++;
  }
  await long;
  t.true(shorts > 3);
});

test('a failed analysis releases the mutex', async (t) => {
  const turns = createYieldingMutex();
  await t.throwsAsync(turns.runExclusive(() => Promise.reject(new Error('no'))));
  t.is(await turns.runExclusive(async () => 'next'), 'next');
});
