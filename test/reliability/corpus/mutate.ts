/** Seeded mutations of a file's bytes. */
import type { Prng } from '../support/prng.ts';

type Damage = (bytes: Buffer, prng: Prng, others: readonly Buffer[]) => Buffer;

/** Bounds the result, so that an analysis stays short. */
const maxBytes = 400_000;
/** Most containers declare sizes and counts here. */
const headBytes = 600;
const forgedNumbers = [
  0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
];

/** Half of the time in the head. */
function place(bytes: Buffer, prng: Prng): number {
  return prng.below(Math.max(1, prng.oneIn(2) ? Math.min(headBytes, bytes.length) : bytes.length));
}

function stretch(bytes: Buffer, prng: Prng): { readonly from: number; readonly to: number } {
  const from = place(bytes, prng);
  const most = prng.pick([1, 4, 64, 4096, bytes.length]);
  return { from, to: Math.min(bytes.length, from + 1 + prng.below(most)) };
}

const insert = (bytes: Buffer, at: number, more: Uint8Array) =>
  Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);

/** Offsets of likely four-letter tags of chunks, boxes or pages. */
function tags(bytes: Buffer): number[] {
  const text = bytes.toString('latin1', 0, 20_000);
  return [...text.matchAll(/(?=[A-Za-z0-9 #!.©-]{4})/g)].map(({ index }) => index);
}

function writeForgedNumber(bytes: Buffer, at: number, prng: Prng): void {
  if (at < 0 || at + 4 > bytes.length) return;
  const value = prng.pick([...forgedNumbers, prng.below(2 ** 32), bytes.length]) >>> 0;
  if (prng.oneIn(2)) bytes.writeUInt32LE(value, at);
  else bytes.writeUInt32BE(value, at);
}

/** Overwrites numbers before or after a four-letter tag, where there is one: sizes, counts, rates, channels. */
const forgeNumbers: Damage = (bytes, prng) => {
  const forged = Buffer.from(bytes);
  const places = prng.oneIn(2) ? [] : tags(forged);
  for (let times = 1 + prng.below(4); times > 0; times--) {
    const at =
      places.length === 0 ? place(forged, prng) : prng.pick(places) + prng.pick([-4, 4, 8, 12, 16, 20]);
    writeForgedNumber(forged, at, prng);
  }
  return forged;
};

const flipBits: Damage = (bytes, prng) => {
  const flipped = Buffer.from(bytes);
  for (let times = 1 + prng.below(16); times > 0; times--) {
    const at = place(flipped, prng);
    flipped[at] = (flipped[at] as number) ^ (1 << prng.below(8));
  }
  return flipped;
};

const overwrite: Damage = (bytes, prng) => {
  const { from, to } = stretch(bytes, prng);
  return Buffer.from(bytes).fill(prng.pick([0, 0xff, prng.below(256)]), from, to);
};

const cut: Damage = (bytes, prng) => {
  const at = prng.below(bytes.length + 1);
  return prng.oneIn(3) ? bytes.subarray(at) : bytes.subarray(0, at);
};

const remove: Damage = (bytes, prng) => {
  const { from, to } = stretch(bytes, prng);
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
};

const repeat: Damage = (bytes, prng) => {
  const { from, to } = stretch(bytes, prng);
  const part = bytes.subarray(from, Math.min(to, from + 8192));
  return insert(bytes, from, Buffer.concat(Array.from({ length: 1 + prng.below(8) }, () => part)));
};

const insertNoise: Damage = (bytes, prng) =>
  insert(bytes, place(bytes, prng), prng.bytes(1 + prng.below(64)));

/** The head of one file and the tail of another. */
const splice: Damage = (bytes, prng, others) => {
  const other = prng.pick(others);
  return Buffer.concat([bytes.subarray(0, place(bytes, prng)), other.subarray(place(other, prng))]);
};

/** A part of one file in another. */
const embed: Damage = (bytes, prng, others) => {
  const other = prng.pick(others);
  const { from, to } = stretch(other, prng);
  return insert(bytes, place(bytes, prng), other.subarray(from, to));
};

const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit++) value = (value << 1) ^ (value < 0 ? 0x04c11db7 : 0);
  return value;
});

/** RFC 3533: not reflected, starts at 0. */
const oggChecksum = (page: Buffer) =>
  page.reduce((crc, byte) => (crc << 8) ^ (crcTable[(crc >>> 24) ^ byte] as number), 0) >>> 0;

/** Corrects the checksums of Ogg pages, so that the reader parses the mutated pages. */
function mendPages(bytes: Buffer): Buffer {
  const mended = Buffer.from(bytes);
  for (let at = 0; at !== -1 && at + 27 < mended.length; at = mended.indexOf('OggS', at + 4)) {
    const segments = mended[at + 26] as number;
    const lacing = mended.subarray(at + 27, at + 27 + segments);
    const end = at + 27 + segments + lacing.reduce((sum, length) => sum + length, 0);
    mended.writeUInt32LE(0, at + 22);
    mended.writeUInt32LE(oggChecksum(mended.subarray(at, end)), at + 22);
  }
  return mended;
}

const ways = [
  flipBits,
  forgeNumbers,
  forgeNumbers,
  overwrite,
  cut,
  remove,
  repeat,
  insertNoise,
  splice,
  embed,
];

/** Applies one to three mutations. */
export function mutate(bytes: Buffer, prng: Prng, others: readonly Buffer[]): Buffer {
  let mutated = bytes;
  for (let times = 1 + prng.below(3); times > 0; times--) {
    if (mutated.length > 0) mutated = prng.pick(ways)(mutated, prng, others).subarray(0, maxBytes);
  }
  return mutated.indexOf('OggS') === 0 && prng.oneIn(2) ? mendPages(mutated) : mutated;
}
