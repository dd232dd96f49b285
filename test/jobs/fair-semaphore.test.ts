/** Analysis slots of a queue. */
import { setImmediate as tick } from 'node:timers/promises';
import test from 'ava';
import { createFairSemaphore, type Permit } from '../../src/service/fair-share.ts';

function openSlots(size: number) {
  const left: number[] = [];
  const slots = createFairSemaphore(size, (count) => left.push(count));
  return { ...slots, left };
}

test('a job that waits for a server releases its slot, and acquires one again afterwards', async (t) => {
  const slots = openSlots(1);
  const first = (await slots.acquire('a')) as Permit;
  t.is(slots.acquire('b'), null);
  let answer = (_: string) => {};
  const server = new Promise<string>((resolve) => {
    answer = resolve;
  });
  let back = false;
  const work = first.releaseDuring(server).then((value) => {
    back = true;
    return value;
  });
  const second = (await slots.acquire('b')) as Permit;
  answer('value');
  await tick();
  t.false(back);
  second.release();
  t.is(await work, 'value');
  t.deepEqual(slots.left, [1, 0]);
  first.release();
  first.release();
  t.truthy(await slots.acquire('c'));
  t.is(slots.acquire('c'), null, 'a slot is released once');
});

test('owners that wait for a slot take turns', async (t) => {
  const slots = openSlots(4);
  const held = await Promise.all(
    ['a', 'a', 'a', 'b'].map((owner) => slots.acquire(owner) as Promise<Permit>),
  );
  const order: string[] = [];
  const back = held.map(async (slot, index) => {
    await slot.releaseDuring(tick());
    order.push(index < 3 ? 'a' : 'b');
    slot.release();
  });
  const others = await Promise.all([0, 1, 2, 3].map(() => slots.acquire('c') as Promise<Permit>));
  await tick();
  await tick();
  for (const slot of others) slot.release();
  await Promise.all(back);
  t.deepEqual(order, ['a', 'b', 'a', 'a']);
});

test('a job whose fetch fails holds no slot', async (t) => {
  const slots = openSlots(1);
  const slot = (await slots.acquire('a')) as Permit;
  await t.throwsAsync(slot.releaseDuring(Promise.reject(new Error('unreachable'))), {
    message: 'unreachable',
  });
  slot.release();
  t.deepEqual(slots.left, [1, 0]);
  t.truthy(slots.acquire('a'));
  t.is(slots.acquire('a'), null);
});
