import test from 'ava';
import type { LiveState } from '../../src/engine/live.ts';
import { deserializeState, serializeState } from '../../src/service/workers/protocol.ts';

const state = {
  bytes: Uint8Array.of(1, 2, 3).subarray(1),
  read: Number.NEGATIVE_INFINITY,
  channels: [{ rows: [Float32Array.of(1, 2), Float64Array.of(3)], none: null, name: 'a' }],
} as unknown as LiveState;

test('a state is shared in one piece, and unserialized into memory of its own', (t) => {
  const serialized = serializeState(state, null);
  t.true(serialized.buffer instanceof SharedArrayBuffer);
  const own = deserializeState(serialized);
  t.deepEqual(own, state);
  t.true(own.bytes.buffer instanceof ArrayBuffer);
  serialized.fill(0);
  t.deepEqual(own, state, 'a copy');
});

test('the memory of an earlier state is used again unless the state has outgrown it', (t) => {
  const spare = serializeState(state, null).buffer;
  const again = serializeState({ ...state, read: 1 }, spare);
  t.is(again.buffer, spare);
  t.deepEqual(deserializeState(again), { ...state, read: 1 });
  const large = { ...state, bytes: new Uint8Array(spare.byteLength) };
  const grown = serializeState(large, spare);
  t.not(grown.buffer, spare);
  t.deepEqual(deserializeState(grown), large);
  const huge = serializeState({ ...state, bytes: new Uint8Array(8 * spare.byteLength) }, null).buffer;
  t.is(serializeState(state, huge).buffer.byteLength, spare.byteLength, 'memory is given back');
});
