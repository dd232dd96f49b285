import test from 'ava';
import type { LiveState } from '../../src/analysis/live.ts';
import { packState, unpackState } from '../../src/workers/live-state.ts';

const state = {
  bytes: Uint8Array.of(1, 2, 3).subarray(1),
  read: Number.NEGATIVE_INFINITY,
  channels: [{ rows: [Float32Array.of(1, 2), Float64Array.of(3)], none: null, name: 'a' }],
} as unknown as LiveState;

test('a state is shared in one piece, and unpacked into memory of its own', (t) => {
  const packed = packState(state);
  t.true(packed.buffer instanceof SharedArrayBuffer);
  const own = unpackState(packed);
  t.deepEqual(own, state);
  t.true(own.bytes.buffer instanceof ArrayBuffer);
  packed.fill(0);
  t.deepEqual(own, state, 'a copy');
});
