/** Shares of the byte budget over random sequences of reservations and releases. */
import test from 'ava';
import fc from 'fast-check';
import { createByteBudget, createReservation } from '../../../src/http/body/byte-budget.ts';

const limit = 1024;
const accounts = ['a', 'b', 'c', 'd'] as const;

type Step = readonly [account: (typeof accounts)[number], bytes: number];
const steps = fc.array(fc.tuple(fc.constantFrom(...accounts), fc.integer({ min: -200, max: 400 })), {
  maxLength: 60,
});

/** Negative bytes are released, up to the account's reservation. @returns the reservations of each account after every step */
function* play(sequence: readonly Step[]) {
  const budget = createByteBudget(limit);
  const held: Record<string, number> = { a: 0, b: 0, c: 0, d: 0 };
  for (const [account, bytes] of sequence) {
    const before = held[account] as number;
    const change = Math.max(bytes, -before);
    const free = limit - budget.used();
    const taken = change > 0 ? budget.reserve(account, change) : true;
    if (change < 0) budget.release(account, -change);
    if (taken) held[account] = before + change;
    yield { budget, held, free, before, change, taken };
  }
}

test('the total equals the open reservations, within the limit', (t) => {
  const property = fc.property(steps, (sequence) => {
    for (const { budget, held } of play(sequence)) {
      const values = Object.values(held);
      t.is(
        budget.used(),
        values.reduce((sum, value) => sum + value, 0),
      );
      t.is(budget.accounts(), values.filter((value) => value > 0).length);
      t.true(budget.used() <= limit);
    }
  });
  fc.assert(property);
});

test('a reservation succeeds while the account holds at most three times the free bytes', (t) => {
  const property = fc.property(steps, (sequence) => {
    for (const { free, before, change, taken } of play(sequence)) {
      if (change > 0) t.is(taken, before + change <= 3 * (free - change));
    }
  });
  fc.assert(property);
});

test('an account without a reservation can reserve three quarters of the free bytes', (t) => {
  const property = fc.property(steps, (sequence) => {
    for (const { budget, held } of play(sequence)) {
      const part = Math.floor((3 * (limit - budget.used())) / 4);
      t.true(budget.fits('newcomer', part));
      t.false(budget.fits('newcomer', part + 1));
      // Each account leaves at least a quarter free.
      const holders = Object.values(held).filter((value) => value > 0).length;
      if (holders === 1) t.true(budget.used() <= (3 * limit) / 4);
    }
  });
  fc.assert(property);
});

test('a body releases its bytes, in part and in the end', (t) => {
  const budget = createByteBudget(limit);
  const body = createReservation(budget, 'a');
  t.true(body.add(700));
  t.false(body.add(100));
  t.is(budget.used(), 700);
  body.release(300);
  t.is(budget.used(), 400);
  t.true(body.add(100));
  body.release();
  body.release();
  t.is(budget.used(), 0);
});
