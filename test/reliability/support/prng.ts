/** Seeded pseudo-random numbers: the same seeds give the same numbers on every machine. */

export type Prng = {
  /** From 0 up to 1. */
  next(): number;
  /** 0 to below `limit`. */
  below(limit: number): number;
  /** True once in `times`. */
  oneIn(times: number): boolean;
  pick<Thing>(things: readonly Thing[]): Thing;
  bytes(length: number): Buffer;
};

const golden = 0x9e3779b9;

export function createPrng(...seeds: readonly number[]): Prng {
  let state = seeds.reduce((sum, seed) => scramble(sum ^ Math.imul(seed + 1, golden)), golden);
  const next = (): number => {
    state = (state + golden) | 0;
    return scramble(state) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    oneIn: (times) => below(times) === 0,
    pick: (things) => {
      if (things.length === 0) throw new TypeError('Expected at least one of `things`, got none');
      return things[below(things.length)] as (typeof things)[number];
    },
    bytes: (length) => Buffer.from(Uint8Array.from({ length }, () => below(256))),
  };
}

/** The finaliser of MurmurHash3: every bit of the result depends on every bit of `value`. */
function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
