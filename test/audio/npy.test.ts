import test from 'ava';
import { encodeNpy } from '../../src/node/npy.ts';

test('writes the bytes that numpy.save writes', (t) => {
  // numpy.save of numpy.array([[1, 2, 3], [4, 5, -0.5]], '<f4'), NumPy 2.
  const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".padEnd(117);
  const expected = Buffer.concat([
    Buffer.from('934e554d505901007600', 'hex'),
    Buffer.from(`${header}\n`),
    Buffer.from('0000803f0000004000004040000080400000a040000000bf', 'hex'),
  ]);
  t.deepEqual(Buffer.concat(encodeNpy(Float32Array.of(1, 2, 3, 4, 5, -0.5), [2, 3])), expected);
});

test('writes the values of a view only', (t) => {
  const [, data] = encodeNpy(Float32Array.of(1, 2, 3).subarray(1), [2]);
  t.deepEqual(data, new Uint8Array(Float32Array.of(2, 3).buffer));
});

test('the data starts at a multiple of 64 bytes for every shape', (t) => {
  for (const shape of [[0, 80], [1], [12_345_678_901, 0], [1, 1, 1, 1]]) {
    const [head] = encodeNpy(new Float32Array(shape.reduce((product, side) => product * side, 1)), shape);
    t.is((head as Uint8Array).length % 64, 0);
  }
});
