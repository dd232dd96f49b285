/** Admission to the queue: every owner leaves slots to the others. */
import test from 'ava';
import { ServiceError } from '../../src/service/errors.ts';
import { createQueueSlots } from '../../src/service/jobs/jobs.ts';

function openSlots(size: number, queued: Readonly<Record<string, number>> = {}) {
  const all = Object.values(queued).reduce((sum, one) => sum + one, 0);
  return createQueueSlots({ size, countUsed: async (owner) => ({ all, own: queued[owner] ?? 0 }) });
}

const maxReserved = async (slots: ReturnType<typeof openSlots>, owner: string, size: number) => {
  for (let count = size; count > 0; count--) {
    const refusal = await slots.reserve(owner, count, async () => null).catch((error: ServiceError) => error);
    if (refusal === null) return count;
  }
  return 0;
};

test('an owner may use as many slots as stay free, and a new owner always gets one', async (t) => {
  t.is(await maxReserved(openSlots(100), 'a', 100), 50);
  t.is(await maxReserved(openSlots(100, { a: 50 }), 'a', 100), 0);
  t.is(await maxReserved(openSlots(100, { a: 50 }), 'b', 100), 25);
  t.is(await maxReserved(openSlots(100, { a: 33, b: 33 }), 'b', 100), 0);
  t.is(await maxReserved(openSlots(100, { a: 33, b: 33 }), 'c', 100), 17);
  t.is(await maxReserved(openSlots(100, { a: 50, b: 49 }), 'c', 100), 1);
  t.is(await maxReserved(openSlots(100, { a: 50, b: 50 }), 'c', 100), 0);
  t.is(await maxReserved(openSlots(1), 'a', 1), 1);
});

test('a refusal names the share and a time to retry', async (t) => {
  const failure = await openSlots(10)
    .reserve('a', 6, async () => null)
    .catch((error: ServiceError) => error);
  t.true(failure instanceof ServiceError);
  t.like(failure, {
    code: 'overloaded',
    message: 'Expected at most 5 more jobs of this owner in the queue, got 6',
    retryAfterSeconds: 5,
  });
});

test('slots stay reserved until their jobs are queued', async (t) => {
  const slots = openSlots(10);
  await slots.reserve('a', 3, async () => {
    t.is(await maxReserved(slots, 'a', 10), 2);
    t.is(await maxReserved(slots, 'b', 10), 3);
  });
  t.is(await maxReserved(slots, 'a', 10), 5);
});
