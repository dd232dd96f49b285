/** Shares of the places in the queue, and of the callbacks under way: one owner always leaves some to the others. */
import test from 'ava';
import { createFairBudget } from '../../src/jobs/fair-budget.ts';
import { createQueueSlots } from '../../src/jobs/queue-slots.ts';
import { ServiceError } from '../../src/runtime/errors.ts';

function openPlaces(size: number, taken: Readonly<Record<string, number>> = {}) {
  const all = Object.values(taken).reduce((sum, one) => sum + one, 0);
  return createQueueSlots({ size, countUsed: async (owner) => [all, taken[owner] ?? 0] });
}

const most = async (places: ReturnType<typeof openPlaces>, owner: string, size: number) => {
  for (let count = size; count > 0; count--) {
    const refusal = await places
      .reserve(owner, count, async () => null)
      .catch((error: ServiceError) => error);
    if (refusal === null) return count;
  }
  return 0;
};

test('an owner may have as many places as stay free, and the next one always finds some', async (t) => {
  t.is(await most(openPlaces(100), 'a', 100), 50);
  t.is(await most(openPlaces(100, { a: 50 }), 'a', 100), 0);
  t.is(await most(openPlaces(100, { a: 50 }), 'b', 100), 25);
  t.is(await most(openPlaces(100, { a: 33, b: 33 }), 'b', 100), 0);
  t.is(await most(openPlaces(100, { a: 33, b: 33 }), 'c', 100), 17);
  t.is(await most(openPlaces(100, { a: 50, b: 49 }), 'c', 100), 1);
  t.is(await most(openPlaces(100, { a: 50, b: 50 }), 'c', 100), 0);
  t.is(await most(openPlaces(1), 'a', 1), 1);
});

test('what is over the share is told with a time to try again', async (t) => {
  const failure = await openPlaces(10)
    .reserve('a', 6, async () => null)
    .catch((error: ServiceError) => error);
  t.true(failure instanceof ServiceError);
  t.like(failure, {
    code: 'overloaded',
    message: 'Expected at most 5 more jobs of this owner in the queue, got 6',
    retryAfterSeconds: 5,
  });
});

test('places are reserved while their jobs are on their way', async (t) => {
  const places = openPlaces(10);
  await places.reserve('a', 3, async () => {
    t.is(await most(places, 'a', 10), 2);
    t.is(await most(places, 'b', 10), 3);
  });
  t.is(await most(places, 'a', 10), 5);
});

test('callbacks of one owner or to one host leave half of the room, whatever becomes of them', (t) => {
  const shares = createFairBudget(64);
  const take = (owner: string, host: string) => {
    const share = shares.open([`owner ${owner}`, `host ${host}`]);
    return share.add(1) ? share.release : null;
  };
  const ends: (() => void)[] = [];
  for (let end = take('a', 'x'); end !== null; end = take('a', 'x')) ends.push(end);
  t.is(ends.length, 32);
  t.is(take('a', 'y'), null);
  t.is(take('b', 'x'), null);
  const other = take('b', 'y');
  t.truthy(other);
  ends.pop()?.();
  t.is(take('a', 'x'), null, 'the other callback took of what is left');
  other?.();
  t.truthy(take('a', 'x'));
  for (const end of ends) end();
  t.truthy(take('b', 'x'));
});

test('a share of bytes grows as far as it leaves as much free, and is released as a whole', (t) => {
  const shares = createFairBudget(1000);
  const [a, b] = [shares.open(['a']), shares.open(['b'])];
  t.true(a.add(400));
  t.false(a.add(101));
  t.true(a.add(100));
  t.true(b.add(250));
  t.false(b.add(1));
  t.false(a.add(1));
  a.release();
  t.true(b.add(250));
  t.true(a.add(500), 'the first amount of a key may use all that is left');
});
