/** Seeded mutations of a file's bytes. */
import type { Prng } from '../support/prng.ts';
import { crc32 } from './checksums.ts';

type Damage = (bytes: Buffer, prng: Prng, others: readonly Buffer[]) => Buffer;

/** Bounds the result, so that an analysis stays short. */
const longest = 400_000;
/** Most containers declare sizes and counts here. */
const headBytes = 600;
const forgedNumbers = [
  0, 1, 2, 7, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe,
  0xffffffff,
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
  const found: number[] = [];
  const end = Math.min(bytes.length - 4, 20_000);
  for (let at = 0; at < end; at++) {
    if (/^[A-Za-z0-9 #!.©-]{4}$/.test(bytes.toString('latin1', at, at + 4))) found.push(at);
  }
  return found;
}

function writeForgedNumber(bytes: Buffer, at: number, prng: Prng): void {
  if (at < 0 || at + 4 > bytes.length) return;
  const value = prng.pick([...forgedNumbers, prng.below(2 ** 32), bytes.length, bytes.length - 8]) >>> 0;
  if (prng.oneIn(2)) bytes.writeUInt32LE(value, at);
  else bytes.writeUInt32BE(value, at);
}

/** Overwrites numbers before or after a four-letter tag: sizes, counts, rates, channels. */
const forgeSizes: Damage = (bytes, prng) => {
  const forged = Buffer.from(bytes);
  const places = tags(forged);
  for (let times = 1 + prng.below(3); times > 0 && places.length > 0; times--) {
    writeForgedNumber(forged, prng.pick(places) + prng.pick([-4, 4, 8, 12, 16, 20]), prng);
  }
  return forged;
};

const forgeNumbers: Damage = (bytes, prng) => {
  const forged = Buffer.from(bytes);
  for (let times = 1 + prng.below(4); times > 0; times--)
    writeForgedNumber(forged, place(forged, prng), prng);
  return forged;
};

const flipBits: Damage = (bytes, prng) => {
  const flipped = Buffer.from(bytes);
  for (let times = 1 + prng.below(16); times > 0 && flipped.length > 0; times--) {
    const at = place(flipped, prng);
    flipped[at] = (flipped[at] as number) ^ (1 << prng.below(8));
  }
  return flipped;
};

const overwrite: Damage = (bytes, prng) => {
  const { from, to } = stretch(bytes, prng);
  const filling = prng.pick([
    Buffer.alloc(to - from),
    Buffer.alloc(to - from, 0xff),
    prng.bytes(Math.min(512, to - from)),
  ]);
  const over = Buffer.from(bytes);
  filling.copy(over, from);
  return over;
};

const cutEnd: Damage = (bytes, prng) =>
  bytes.subarray(0, prng.oneIn(4) ? prng.below(64) : prng.below(bytes.length + 1));

const cutStart: Damage = (bytes, prng) => bytes.subarray(prng.below(Math.min(bytes.length, 5000) + 1));

const remove: Damage = (bytes, prng) => {
  const { from, to } = stretch(bytes, prng);
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
};

const repeat: Damage = (bytes, prng) => {
  const { from, to } = stretch(bytes, prng);
  const piece = bytes.subarray(from, Math.min(to, from + 8192));
  return insert(bytes, from, Buffer.concat(Array.from({ length: 1 + prng.below(8) }, () => piece)));
};

const insertNoise: Damage = (bytes, prng) =>
  insert(bytes, place(bytes, prng), prng.bytes(1 + prng.below(64)));

/** The head of one file and the tail of another. */
const splice: Damage = (bytes, prng, others) => {
  const other = prng.pick(others);
  return Buffer.concat([bytes.subarray(0, place(bytes, prng)), other.subarray(place(other, prng))]);
};

const embed: Damage = (bytes, prng, others) => {
  const other = prng.pick(others);
  const { from, to } = stretch(other, prng);
  return insert(bytes, place(bytes, prng), other.subarray(from, to));
};

const chain: Damage = (bytes, prng, others) =>
  Buffer.concat([bytes, prng.oneIn(2) ? bytes : prng.pick(others)]);

/** An ID3v2 tag with a random length in half of the cases. */
const tagged: Damage = (bytes, prng) => {
  const body = prng.bytes(prng.below(200));
  const size = prng.oneIn(2) ? body.length : prng.below(2 ** 28);
  const header = Buffer.from([
    0x49,
    0x44,
    0x33,
    prng.pick([2, 3, 4, 255]),
    0,
    prng.pick([0, 0x10, 0x80, 0xff]),
  ]);
  const length = Buffer.from([size >> 21, (size >> 14) & 127, (size >> 7) & 127, size & 127]);
  return Buffer.concat([header, length, body, bytes]);
};

/** NaN, infinite, huge and denormal samples of four or eight bytes. */
const corruptSamples: Damage = (bytes, prng) => {
  const corrupt = Buffer.from(bytes);
  const value = prng.pick([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 3e38, 1e-40]);
  for (let times = prng.pick([1, 30, 3000]); times > 0; times--) {
    const at = prng.below(corrupt.length) & ~3;
    if (at + 8 <= corrupt.length)
      prng.oneIn(4) ? corrupt.writeDoubleLE(value, at) : corrupt.writeFloatLE(value, at);
  }
  return corrupt;
};

/** An MP4 box in a box in a box, or as many empty ones. */
const nest: Damage = (bytes, prng) => {
  const depth = prng.pick([3, 40, 500]);
  const name = prng.pick(['moov', 'trak', 'mdia', 'meta', 'udta', 'sinf', 'free']);
  let inner = Buffer.alloc(0);
  for (let level = 0; level < depth; level++) {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(prng.oneIn(8) ? prng.pick(forgedNumbers) : inner.length + 8, 0);
    head.write(name, 4, 'latin1');
    inner = prng.oneIn(3) ? Buffer.concat([inner, head]) : Buffer.concat([head, inner]);
  }
  return insert(bytes, prng.pick([0, 8, place(bytes, prng)]), inner);
};

/** Corrects the checksums of Ogg pages, so that the reader parses the mutated pages. */
const mendPages: Damage = (bytes) => {
  const mended = Buffer.from(bytes);
  for (
    let at = mended.indexOf('OggS');
    at !== -1 && at + 27 < mended.length;
    at = mended.indexOf('OggS', at + 4)
  ) {
    const segments = mended[at + 26] as number;
    const lacing = mended.subarray(at + 27, at + 27 + segments);
    const end = at + 27 + segments + lacing.reduce((sum, length) => sum + length, 0);
    mended.writeUInt32LE(0, at + 22);
    mended.writeUInt32LE(crc32(mended.subarray(at, end)), at + 22);
  }
  return mended;
};

const ways: readonly Damage[] = [
  flipBits,
  flipBits,
  forgeSizes,
  forgeSizes,
  forgeNumbers,
  overwrite,
  cutEnd,
  cutStart,
  remove,
  repeat,
  insertNoise,
  splice,
  embed,
  chain,
  tagged,
  corruptSamples,
  nest,
];

/** Applies one to three mutations. */
export function mutate(bytes: Buffer, prng: Prng, others: readonly Buffer[]): Buffer {
  let mutated = bytes;
  for (let times = 1 + prng.below(3); times > 0; times--) {
    if (mutated.length > 0) mutated = prng.pick(ways)(mutated, prng, others).subarray(0, longest);
  }
  return mutated.subarray(0, 4).equals(Buffer.from('OggS')) && prng.oneIn(2)
    ? mendPages(mutated, prng, others)
    : mutated;
}
