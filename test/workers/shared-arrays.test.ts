import test from 'ava';
import { share, unshare } from '../../src/workers/shared-arrays.ts';

const value = {
  state: { rows: [Float32Array.of(1, 2), Uint8Array.of(3)], sums: Float64Array.of(4).subarray(0, 1) },
  name: 'a',
  none: null,
  count: Number.NEGATIVE_INFINITY,
};

test('typed arrays are shared, and copied back, with everything else as it is', (t) => {
  const shared = share(value);
  const own = unshare(shared);
  t.deepEqual(own, value);
  t.true(shared.state.rows.every(({ buffer }) => buffer instanceof SharedArrayBuffer));
  t.true(own.state.rows.every(({ buffer }) => buffer instanceof ArrayBuffer));
  (shared.state.rows[0] as Float32Array)[0] = 9;
  t.deepEqual(own, value, 'a copy');
  t.is(share(null), null);
});
