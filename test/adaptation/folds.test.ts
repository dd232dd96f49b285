import test from 'ava';
import { foldsOf, leaveOut } from '../../src/tools/adapt/comparison.ts';

test('recordings of a speaker share a fold, and folds are about equally large', (t) => {
  const speakers = ['a', 'a', 'a', 'a', 'b', 'b', 'c', 'd', 'e', 'f', 'g'];
  const folds = foldsOf(speakers);
  for (const speaker of new Set(speakers)) {
    const own = folds.filter((_, index) => speakers[index] === speaker);
    t.is(new Set(own).size, 1, speaker);
  }
  const sizes = [0, 1, 2, 3, 4].map((fold) => folds.filter((one) => one === fold).length).sort();
  t.deepEqual(sizes, [1, 2, 2, 2, 4]);
  t.deepEqual(foldsOf([...speakers].reverse()), [...folds].reverse());
});

test('a row is predicted by what was learned from other folds', (t) => {
  const rows = [1, 2, 4, 8];
  const sums = leaveOut(
    rows,
    [0, 1, 0, 1],
    (others) => others.reduce((sum, row) => sum + row, 0),
    (sum, row) => [sum, row],
  );
  t.deepEqual(sums, [
    [10, 1],
    [5, 2],
    [10, 4],
    [5, 8],
  ]);
});
