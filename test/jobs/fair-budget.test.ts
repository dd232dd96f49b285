/** A budget shared by keys with dynamic thresholds. */
import test from 'ava';
import { createFairBudget } from '../../src/jobs/fair-budget.ts';

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
