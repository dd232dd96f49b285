import test from 'ava';
import { expandedLevel } from '../../src/tools/adapt/comparison.ts';

// 2 Phi(-sqrt(n / (n - 1)) t) with t from tables of Student's distribution: 2.132 (4 degrees, 0.05), 2.776 (0.025), 1.729 (19, 0.05).
for (const [level, speakers, expected] of [
  [0.9, 5, 0.9829],
  [0.95, 5, 0.9981],
  [0.9, 20, 0.9239],
] as const) {
  test(`${level} of ${speakers} speakers`, (t) => {
    t.true(
      Math.abs(expandedLevel(level, speakers) - expected) < 2e-4,
      String(expandedLevel(level, speakers)),
    );
  });
}

test('many speakers need no wider interval', (t) => {
  t.true(Math.abs(expandedLevel(0.9, 10_000) - 0.9) < 1e-3);
});
