/** A budget shared by keys with dynamic thresholds: single cases, and random sequences of reservations and releases. */
import test from 'ava';
import fc from 'fast-check';
import { createFairBudget } from '../../src/service/fair-share.ts';

const limit = 1024;
const keys = ['a', 'b', 'c', 'd'] as const;

type Step = readonly [key: (typeof keys)[number], amount: number];
const steps = fc.array(fc.tuple(fc.constantFrom(...keys), fc.integer({ min: -200, max: 400 })), {
  maxLength: 60,
});
const shares = fc.constantFrom(1, 3);

/** Negative amounts are released, up to the key's reservation. @returns the reservations of each key after every step */
function* play(sequence: readonly Step[], shareOfFree: number) {
  const budget = createFairBudget(limit, { shareOfFree, firstAmount: 0 });
  const reservations = new Map(keys.map((key) => [key, budget.open([key])]));
  const held: Record<string, number> = { a: 0, b: 0, c: 0, d: 0 };
  for (const [key, amount] of sequence) {
    const before = held[key] as number;
    const change = Math.max(amount, -before);
    const free = limit - budget.used();
    const added = change > 0 ? reservations.get(key)?.add(change) : true;
    if (change < 0) reservations.get(key)?.release(-change);
    if (added) held[key] = before + change;
    yield { budget, held, free, before, change, added };
  }
}

test('the total equals the open reservations, within the limit', (t) => {
  const property = fc.property(steps, shares, (sequence, shareOfFree) => {
    for (const { budget, held } of play(sequence, shareOfFree)) {
      const values = Object.values(held);
      t.is(
        budget.used(),
        values.reduce((sum, value) => sum + value, 0),
      );
      t.is(budget.keys(), values.filter((value) => value > 0).length);
      t.true(budget.used() <= limit);
    }
  });
  fc.assert(property);
});

test('a reservation succeeds while the key holds at most its share of what is free', (t) => {
  const property = fc.property(steps, shares, (sequence, shareOfFree) => {
    for (const { free, before, change, added } of play(sequence, shareOfFree)) {
      if (change > 0) t.is(added, before + change <= shareOfFree * (free - change));
    }
  });
  fc.assert(property);
});

test('a key without a reservation can reserve its share of what is free', (t) => {
  const property = fc.property(steps, shares, (sequence, shareOfFree) => {
    const share = shareOfFree / (shareOfFree + 1);
    for (const { budget, held } of play(sequence, shareOfFree)) {
      t.is(budget.available('newcomer'), Math.floor(share * (limit - budget.used())));
      const holders = Object.values(held).filter((value) => value > 0).length;
      if (holders === 1) t.true(budget.used() <= share * limit);
    }
  });
  fc.assert(property);
});

test('a reservation is released in part and in the end', (t) => {
  const budget = createFairBudget(limit, { shareOfFree: 3 });
  const reservation = budget.open(['a']);
  t.true(reservation.add(700));
  t.false(reservation.add(100));
  reservation.release(300);
  t.is(budget.used(), 400);
  t.true(reservation.add(100));
  reservation.release();
  reservation.release();
  t.is(budget.used(), 0);
});

test('one owner, or one host, gets at most half', (t) => {
  const budget = createFairBudget(64);
  const add = (owner: string, host: string) => {
    const reservation = budget.open([`owner ${owner}`, `host ${host}`]);
    return reservation.add(1) ? reservation.release : null;
  };
  const releases: (() => void)[] = [];
  for (let release = add('a', 'x'); release !== null; release = add('a', 'x')) releases.push(release);
  t.is(releases.length, 32);
  t.is(add('a', 'y'), null);
  t.is(add('b', 'x'), null);
  const other = add('b', 'y');
  t.truthy(other);
  releases.pop()?.();
  t.is(add('a', 'x'), null, 'the other reservation uses part of the rest');
  other?.();
  t.truthy(add('a', 'x'));
  for (const release of releases) release();
  t.truthy(add('b', 'x'));
});

test('a reservation grows while as much stays free, and is released as a whole', (t) => {
  const budget = createFairBudget(1000);
  const [a, b] = [budget.open(['a']), budget.open(['b'])];
  t.true(a.add(400));
  t.false(a.add(101));
  t.true(a.add(100));
  t.true(b.add(250));
  t.false(b.add(1));
  t.false(a.add(1));
  a.release();
  t.true(b.add(250));
  t.true(a.add(500), 'the first amount of a key may use all that is free');
});
