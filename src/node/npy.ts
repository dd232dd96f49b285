/** NumPy's .npy, version 1.0 (numpy.lib.format): magic, header as a Python literal, little-endian data. */

const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0];
/** The data starts at a multiple of this many bytes. */
const alignment = 64;
const headerLengthBytes = 2;

/** A float32 array in C order. @throws Error when the length of `data` differs from `shape` */
export function encodeNpy(data: Float32Array, shape: readonly number[]): Uint8Array[] {
  const count = shape.reduce((product, side) => product * side, 1);
  if (count !== data.length) throw new Error(`Expected ${count} values for \`data\`, got ${data.length}`);
  const sides = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${sides}), }`;
  const used = magic.length + headerLengthBytes + text.length + 1;
  const header = `${text}${' '.repeat((alignment - (used % alignment)) % alignment)}\n`;
  const length = [header.length & 0xff, header.length >> 8];
  const head = Buffer.concat([Buffer.from(magic), Buffer.from(length), Buffer.from(header, 'latin1')]);
  return [head, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)];
}
