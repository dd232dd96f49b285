/** Analysis slots of a lane. */
import { setImmediate as tick } from 'node:timers/promises';
import test from 'ava';
import { createSlots, type Slot } from '../../src/jobs/slots.ts';

function openSlots(size: number) {
  const left: number[] = [];
  const slots = createSlots(size, (count) => left.push(count));
  return { ...slots, left };
}

test('a job that waits for a server leaves its slot to another one, and has one again afterwards', async (t) => {
  const slots = openSlots(1);
  const first = (await slots.enter('a')) as Slot;
  t.is(slots.enter('b'), null);
  let answer = (_: string) => {};
  const server = new Promise<string>((resolve) => {
    answer = resolve;
  });
  let back = false;
  const work = first.leaveDuring(server).then((value) => {
    back = true;
    return value;
  });
  const second = (await slots.enter('b')) as Slot;
  answer('value');
  await tick();
  t.false(back);
  second.release();
  t.is(await work, 'value');
  t.deepEqual(slots.left, [1, 0]);
  first.release();
  first.release();
  t.truthy(await slots.enter('c'));
  t.is(slots.enter('c'), null, 'a slot is released once');
});

test('owners that wait for a slot take turns', async (t) => {
  const slots = openSlots(4);
  const held = await Promise.all(['a', 'a', 'a', 'b'].map((owner) => slots.enter(owner) as Promise<Slot>));
  const order: string[] = [];
  const back = held.map(async (slot, index) => {
    await slot.leaveDuring(tick());
    order.push(index < 3 ? 'a' : 'b');
    slot.release();
  });
  const others = await Promise.all([0, 1, 2, 3].map(() => slots.enter('c') as Promise<Slot>));
  await tick();
  await tick();
  for (const slot of others) slot.release();
  await Promise.all(back);
  t.deepEqual(order, ['a', 'b', 'a', 'a']);
});

test('a job whose fetch fails has no slot any more', async (t) => {
  const slots = openSlots(1);
  const slot = (await slots.enter('a')) as Slot;
  await t.throwsAsync(slot.leaveDuring(Promise.reject(new Error('away'))), { message: 'away' });
  slot.release();
  t.deepEqual(slots.left, [1, 0]);
  t.truthy(slots.enter('a'));
  t.is(slots.enter('a'), null);
});
