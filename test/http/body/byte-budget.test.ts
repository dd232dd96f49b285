/** Shares of the memory for bodies, checked over random sequences of reservations and releases. */
import test from 'ava';
import fc from 'fast-check';
import { createByteBudget, createReservation } from '../../../src/http/body/byte-budget.ts';

const limit = 1024;
const accounts = ['a', 'b', 'c', 'd'] as const;

type Step = readonly [account: (typeof accounts)[number], bytes: number];
const steps = fc.array(fc.tuple(fc.constantFrom(...accounts), fc.integer({ min: -200, max: 400 })), {
  maxLength: 60,
});

/** Negative bytes are released, as far as the account holds them. @returns what each account holds after every step */
function* play(sequence: readonly Step[]) {
  const budget = createByteBudget(limit);
  const held: Record<string, number> = { a: 0, b: 0, c: 0, d: 0 };
  for (const [account, bytes] of sequence) {
    const before = held[account] as number;
    const change = Math.max(bytes, -before);
    const free = limit - budget.bytes();
    const taken = change > 0 ? budget.reserve(account, change) : true;
    if (change < 0) budget.release(account, -change);
    if (taken) held[account] = before + change;
    yield { budget, held, free, before, change, taken };
  }
}

test('the sum is that of what was reserved and not released, and never over the limit', (t) => {
  const property = fc.property(steps, (sequence) => {
    for (const { budget, held } of play(sequence)) {
      const values = Object.values(held);
      t.is(
        budget.bytes(),
        values.reduce((sum, value) => sum + value, 0),
      );
      t.is(budget.accounts(), values.filter((value) => value > 0).length);
      t.true(budget.bytes() <= limit);
    }
  });
  fc.assert(property);
});

test('a reservation succeeds exactly while the account holds at most three times what is left free', (t) => {
  const property = fc.property(steps, (sequence) => {
    for (const { free, before, change, taken } of play(sequence)) {
      if (change > 0) t.is(taken, before + change <= 3 * (free - change));
    }
  });
  fc.assert(property);
});

test('an account that holds nothing can reserve three quarters of what is free, whatever others do', (t) => {
  const property = fc.property(steps, (sequence) => {
    for (const { budget, held } of play(sequence)) {
      const part = Math.floor((3 * (limit - budget.bytes())) / 4);
      t.true(budget.fits('newcomer', part));
      t.false(budget.fits('newcomer', part + 1));
      // Each account leaves at least a quarter of what it found.
      const holders = Object.values(held).filter((value) => value > 0).length;
      if (holders === 1) t.true(budget.bytes() <= (3 * limit) / 4);
    }
  });
  fc.assert(property);
});

/** Every account takes as much as it can; now and then one lets a part go, as requests end. */
function settle(count: number): number[] {
  const budget = createByteBudget(2 ** 20);
  const held = Array.from({ length: count }, () => 0);
  for (let round = 0; round < 200 * count; round++) {
    for (const [index, value] of held.entries()) {
      const part = round % count === index ? value >> 3 : 0;
      budget.release(String(index), part);
      held[index] = value - part;
      while (budget.reserve(String(index), 512)) held[index] = (held[index] as number) + 512;
    }
  }
  return held;
}

test('busy accounts settle at equal shares, beside which one more finds room', (t) => {
  for (const count of [1, 2, 3, 5]) {
    const share = (2 ** 20 * 3) / (3 * count + 1);
    for (const value of settle(count)) {
      t.true(Math.abs(value - share) < 0.15 * share, `${count} accounts: ${value} instead of ${share}`);
    }
  }
});

test('a body gives back what is not needed any more, and in the end everything', (t) => {
  const budget = createByteBudget(limit);
  const body = createReservation(budget, 'a');
  t.true(body.add(700));
  t.false(body.add(100));
  t.is(budget.bytes(), 700);
  body.release(300);
  t.is(budget.bytes(), 400);
  t.true(body.add(100));
  body.release();
  body.release();
  t.is(budget.bytes(), 0);
});
