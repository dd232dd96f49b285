/** Turns of analyses in one thread. */
import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises';
import test from 'ava';
import { createTurns } from '../../src/jobs/turns.ts';

test('one analysis runs at a time, in the order in which they came', async (t) => {
  const turns = createTurns();
  const events: string[] = [];
  const work = (name: string) =>
    turns.run(async () => {
      events.push(`${name} begins`);
      await sleep(5);
      events.push(`${name} ends`);
    });
  await Promise.all(['a', 'b', 'c'].map(work));
  t.deepEqual(events, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('a long analysis lets others run between its chunks, also those that come one after the other', async (t) => {
  const turns = createTurns();
  const events: string[] = [];
  const short = (name: string) =>
    turns.run(async () => {
      events.push(name);
      await sleep(40);
    });
  const long = turns.run(async () => {
    for (const chunk of [1, 2]) {
      events.push(`chunk ${chunk}`);
      await sleep(2000);
      await turns.yieldTurn();
    }
  });
  await tick();
  const names = ['first', 'second', 'third', 'fourth', 'fifth'];
  for (const name of names) await short(name);
  t.deepEqual(events, ['chunk 1', ...names]);
  await long;
  t.deepEqual(events.slice(6), ['chunk 2']);
});

test('a long analysis gets its turn back though others never end to come', async (t) => {
  const turns = createTurns();
  let chunks = 0;
  const long = turns.run(async () => {
    for (; chunks < 3; chunks++) {
      await sleep(20);
      await turns.yieldTurn();
    }
  });
  let shorts = 0;
  while (chunks < 3) {
    await turns.run(() => sleep(5));
    shorts++;
  }
  await long;
  t.true(shorts > 3);
});

test('what fails gives its turn back', async (t) => {
  const turns = createTurns();
  await t.throwsAsync(turns.run(() => Promise.reject(new Error('no'))));
  t.is(await turns.run(async () => 'next'), 'next');
});
