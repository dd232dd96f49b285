/** Damage: each way gets the bytes of a file and gives others. */
import type { Dice } from './dice.ts';

type Damage = (bytes: Buffer, dice: Dice, others: readonly Buffer[]) => Buffer;

/** No mutation is longer, so that an analysis stays short. */
const longest = 400_000;
/** Where most containers keep what they claim. */
const headBytes = 600;
const lies = [
  0, 1, 2, 7, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe,
  0xffffffff,
];

/** Half of the time in the head. */
function place(bytes: Buffer, dice: Dice): number {
  return dice.below(Math.max(1, dice.oneIn(2) ? Math.min(headBytes, bytes.length) : bytes.length));
}

function stretch(bytes: Buffer, dice: Dice): { readonly from: number; readonly to: number } {
  const from = place(bytes, dice);
  const most = dice.pick([1, 4, 64, 4096, bytes.length]);
  return { from, to: Math.min(bytes.length, from + 1 + dice.below(most)) };
}

const insert = (bytes: Buffer, at: number, more: Uint8Array) =>
  Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);

/** Offsets of what looks like the four letters of a chunk, a box or a page. */
function tags(bytes: Buffer): number[] {
  const found: number[] = [];
  const end = Math.min(bytes.length - 4, 20_000);
  for (let at = 0; at < end; at++) {
    if (/^[A-Za-z0-9 #!.©-]{4}$/.test(bytes.toString('latin1', at, at + 4))) found.push(at);
  }
  return found;
}

function writeLie(bytes: Buffer, at: number, dice: Dice): void {
  if (at < 0 || at + 4 > bytes.length) return;
  const lie = dice.pick([...lies, dice.below(2 ** 32), bytes.length, bytes.length - 8]) >>> 0;
  if (dice.oneIn(2)) bytes.writeUInt32LE(lie, at);
  else bytes.writeUInt32BE(lie, at);
}

/** Numbers that stand before or after a tag: sizes, counts, rates, channels. */
const lieAboutSizes: Damage = (bytes, dice) => {
  const lied = Buffer.from(bytes);
  const places = tags(lied);
  for (let times = 1 + dice.below(3); times > 0 && places.length > 0; times--) {
    writeLie(lied, dice.pick(places) + dice.pick([-4, 4, 8, 12, 16, 20]), dice);
  }
  return lied;
};

const lieSomewhere: Damage = (bytes, dice) => {
  const lied = Buffer.from(bytes);
  for (let times = 1 + dice.below(4); times > 0; times--) writeLie(lied, place(lied, dice), dice);
  return lied;
};

const flipBits: Damage = (bytes, dice) => {
  const flipped = Buffer.from(bytes);
  for (let times = 1 + dice.below(16); times > 0 && flipped.length > 0; times--) {
    const at = place(flipped, dice);
    flipped[at] = (flipped[at] as number) ^ (1 << dice.below(8));
  }
  return flipped;
};

const overwrite: Damage = (bytes, dice) => {
  const { from, to } = stretch(bytes, dice);
  const filling = dice.pick([
    Buffer.alloc(to - from),
    Buffer.alloc(to - from, 0xff),
    dice.bytes(Math.min(512, to - from)),
  ]);
  const over = Buffer.from(bytes);
  filling.copy(over, from);
  return over;
};

const cutEnd: Damage = (bytes, dice) =>
  bytes.subarray(0, dice.oneIn(4) ? dice.below(64) : dice.below(bytes.length + 1));

const cutStart: Damage = (bytes, dice) => bytes.subarray(dice.below(Math.min(bytes.length, 5000) + 1));

const remove: Damage = (bytes, dice) => {
  const { from, to } = stretch(bytes, dice);
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
};

const repeat: Damage = (bytes, dice) => {
  const { from, to } = stretch(bytes, dice);
  const piece = bytes.subarray(from, Math.min(to, from + 8192));
  return insert(bytes, from, Buffer.concat(Array.from({ length: 1 + dice.below(8) }, () => piece)));
};

const insertNoise: Damage = (bytes, dice) =>
  insert(bytes, place(bytes, dice), dice.bytes(1 + dice.below(64)));

/** The head of one file and the tail of another. */
const splice: Damage = (bytes, dice, others) => {
  const other = dice.pick(others);
  return Buffer.concat([bytes.subarray(0, place(bytes, dice)), other.subarray(place(other, dice))]);
};

const embed: Damage = (bytes, dice, others) => {
  const other = dice.pick(others);
  const { from, to } = stretch(other, dice);
  return insert(bytes, place(bytes, dice), other.subarray(from, to));
};

const chain: Damage = (bytes, dice, others) =>
  Buffer.concat([bytes, dice.oneIn(2) ? bytes : dice.pick(others)]);

/** A tag of ID3v2 whose length may lie. */
const tagged: Damage = (bytes, dice) => {
  const body = dice.bytes(dice.below(200));
  const size = dice.oneIn(2) ? body.length : dice.below(2 ** 28);
  const header = Buffer.from([
    0x49,
    0x44,
    0x33,
    dice.pick([2, 3, 4, 255]),
    0,
    dice.pick([0, 0x10, 0x80, 0xff]),
  ]);
  const length = Buffer.from([size >> 21, (size >> 14) & 127, (size >> 7) & 127, size & 127]);
  return Buffer.concat([header, length, body, bytes]);
};

/** Values that no sample can have, in four or eight bytes. */
const spoilSamples: Damage = (bytes, dice) => {
  const spoilt = Buffer.from(bytes);
  const value = dice.pick([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 3e38, 1e-40]);
  for (let times = dice.pick([1, 30, 3000]); times > 0; times--) {
    const at = dice.below(spoilt.length) & ~3;
    if (at + 8 <= spoilt.length)
      dice.oneIn(4) ? spoilt.writeDoubleLE(value, at) : spoilt.writeFloatLE(value, at);
  }
  return spoilt;
};

/** An MP4 box in a box in a box, or as many empty ones. */
const nest: Damage = (bytes, dice) => {
  const depth = dice.pick([3, 40, 500]);
  const name = dice.pick(['moov', 'trak', 'mdia', 'meta', 'udta', 'sinf', 'free']);
  let inner = Buffer.alloc(0);
  for (let level = 0; level < depth; level++) {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(dice.oneIn(8) ? dice.pick(lies) : inner.length + 8, 0);
    head.write(name, 4, 'latin1');
    inner = dice.oneIn(3) ? Buffer.concat([inner, head]) : Buffer.concat([head, inner]);
  }
  return insert(bytes, dice.pick([0, 8, place(bytes, dice)]), inner);
};

/** Makes pages of Ogg whole again, so that what else is wrong is looked at. */
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
    mended.writeUInt32LE(oggChecksum(mended.subarray(at, end)), at + 22);
  }
  return mended;
};

const polynomials = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit++) value = value & 0x80000000 ? (value << 1) ^ 0x04c11db7 : value << 1;
  return value >>> 0;
});

/** CRC-32 without reflection, RFC 3533. */
function oggChecksum(page: Buffer): number {
  let sum = 0;
  for (const byte of page) sum = ((sum << 8) ^ (polynomials[(sum >>> 24) ^ byte] as number)) >>> 0;
  return sum;
}

const ways: readonly Damage[] = [
  flipBits,
  flipBits,
  lieAboutSizes,
  lieAboutSizes,
  lieSomewhere,
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
  spoilSamples,
  nest,
];

/** One to three ways of damage, one after the other. */
export function mutate(bytes: Buffer, dice: Dice, others: readonly Buffer[]): Buffer {
  let mutated = bytes;
  for (let times = 1 + dice.below(3); times > 0; times--) {
    if (mutated.length > 0) mutated = dice.pick(ways)(mutated, dice, others).subarray(0, longest);
  }
  return mutated.subarray(0, 4).equals(Buffer.from('OggS')) && dice.oneIn(2)
    ? mendPages(mutated, dice, others)
    : mutated;
}
