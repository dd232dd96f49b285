/** The checks of FLAC (CRC-8, CRC-16) and of Ogg (CRC-32, not zlib's): all start at 0 and are not reflected. */

function table(bits: number, polynomial: number): Uint32Array {
  const top = 2 ** (bits - 1);
  return Uint32Array.from({ length: 256 }, (_, index) => {
    let value = (index << (bits - 8)) >>> 0;
    for (let bit = 0; bit < 8; bit++) value = ((value << 1) ^ ((value & top) === 0 ? 0 : polynomial)) >>> 0;
    return bits === 32 ? value : value % 2 ** bits;
  });
}

function check(bits: number, polynomial: number): (bytes: Iterable<number>) => number {
  const steps = table(bits, polynomial);
  const mask = 2 ** bits - 1;
  return (bytes) => {
    let value = 0;
    for (const byte of bytes) {
      const step = steps[((value >>> (bits - 8)) ^ byte) & 255] as number;
      value = (((value << 8) & mask) ^ step) >>> 0;
    }
    return value;
  };
}

export const crc8 = check(8, 0x07);
export const crc16 = check(16, 0x8005);
export const crc32 = check(32, 0x04c11db7);
