import test from 'ava';
import { lowest, type Point, robustSlope } from './footprint.ts';
import { createPrng } from './prng.ts';

/** Memory that gains `leak` a step, with garbage that comes and goes, and a few points far off. */
function memory(leak: number): Point[] {
  const prng = createPrng(1);
  return Array.from({ length: 400 }, (_, x) => ({
    x,
    y: 200 + leak * x + (x % 25) + (prng.below(40) === 0 ? 500 : 0),
  }));
}

test('a leak is seen through garbage and outliers, and none where there is none', (t) => {
  for (const leak of [0, 0.01, 0.5]) {
    const slope = robustSlope(lowest(memory(leak), 12));
    t.true(slope !== null && Math.abs(slope - leak) < 0.005, `${slope} for ${leak}`);
  }
});

test('one point has no slope', (t) => {
  t.is(robustSlope([{ x: 1, y: 1 }]), null);
});
