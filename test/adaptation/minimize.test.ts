import test from 'ava';
import { minimize } from '../../src/tools/adapt/correction.ts';

test('finds the minimum of a narrow valley', (t) => {
  // Rosenbrock's function.
  const found = minimize(
    (at, gradient) => {
      const [x = 0, y = 0] = at;
      gradient[0] = -2 * (1 - x) - 400 * x * (y - x * x);
      gradient[1] = 200 * (y - x * x);
      return (1 - x) ** 2 + 100 * (y - x * x) ** 2;
    },
    Float64Array.of(-1.2, 1),
  );
  t.deepEqual(
    [...found].map((value) => value.toFixed(3)),
    ['1.000', '1.000'],
  );
});

test('a point without a slope is returned', (t) => {
  const start = Float64Array.of(3);
  t.is(
    minimize((_, gradient) => {
      gradient[0] = 0;
      return 5;
    }, start),
    start,
  );
});
