/** Writers of boxes, EBML elements and Ogg pages with arbitrary content. */
import { crc32 } from './checksums.ts';

export function number(value: number, bytes: number, order: 'big' | 'little' = 'big'): Buffer {
  const digits = Buffer.alloc(8);
  if (order === 'big') digits.writeBigUInt64BE(BigInt(value));
  else digits.writeBigUInt64LE(BigInt(value));
  return order === 'big' ? digits.subarray(8 - bytes) : digits.subarray(0, bytes);
}

export const ascii = (text: string) => Buffer.from(text, 'latin1');
/** Concatenates what `make` returns for 0 to `count` - 1. */
export const times = (count: number, make: (index: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));

/** An MP4 box. */
export function box(name: string, ...inner: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(inner.map((part) => (typeof part === 'string' ? ascii(part) : part)));
  return Buffer.concat([number(body.length + 8, 4), ascii(name), body]);
}

export const words = (...values: readonly number[]) => Buffer.concat(values.map((value) => number(value, 4)));
export const ftyp = box('ftyp', ascii('M4A \0\0\0\0isom'));

/** A page of Ogg with a correct checksum. Packets other than a single one are shorter than 255 bytes. */
export function oggPage(
  index: number,
  flags: number,
  packets: Buffer | readonly Buffer[],
  position = 0,
): Buffer {
  const body = Buffer.isBuffer(packets) ? packets : Buffer.concat(packets);
  const head = Buffer.concat([
    ascii('OggS\0'),
    Buffer.from([flags]),
    number(position, 8, 'little'),
    number(1, 4, 'little'),
    number(index, 4, 'little'),
    Buffer.alloc(4),
  ]);
  const lacing = Buffer.isBuffer(packets)
    ? laceOne(body.length)
    : Buffer.from(packets.map((one) => one.length));
  const page = Buffer.concat([head, Buffer.from([lacing.length]), lacing, body]);
  page.writeUInt32LE(crc32(page), 22);
  return page;
}

function laceOne(length: number): Buffer {
  const lacing = Buffer.alloc(Math.min(255, Math.floor(length / 255) + 1), 255);
  if (lacing.length * 255 > length) lacing[lacing.length - 1] = length % 255;
  return lacing;
}

/** One packet of Opus, 20 ms. */
export const silence = Buffer.from([0xfc, 0xff, 0xfe]);

/** An EBML element; `id` is hexadecimal. */
export function element(id: string, ...inner: readonly Buffer[]): Buffer {
  const body = Buffer.concat(inner);
  const size = Buffer.concat([Buffer.from([0x08]), number(body.length, 4)]);
  return Buffer.concat([Buffer.from(id, 'hex'), size, body]);
}

type WebM = {
  readonly codec?: string;
  readonly track?: Buffer;
  readonly before?: Buffer;
  readonly blocks?: Buffer;
};

/** `flags`: 0x80 for one packet a block; 2, 4 and 6 more for how several are laced. */
export const blocksOf = (count: number, packet: Buffer, flags = 0x80) =>
  times(count, (index) =>
    element('a3', Buffer.from([0x81]), number(index % 30_000, 2), Buffer.from([flags]), packet),
  );

export function webm({ codec = 'A_OPUS', track = Buffer.alloc(0), before, blocks }: WebM): Buffer {
  const rate = Buffer.alloc(8);
  rate.writeDoubleBE(48_000);
  const entry = element(
    'ae',
    element('d7', number(1, 1)),
    element('83', number(2, 1)),
    element('86', ascii(codec)),
    element('63a2', ascii('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0')),
    element('e1', element('b5', rate), element('9f', number(1, 1))),
    track,
  );
  return Buffer.concat([
    element('1a45dfa3', element('4282', ascii('webm'))),
    element(
      '18538067',
      element('1549a966', element('2ad7b1', number(1_000_000, 4))),
      element('1654ae6b', entry),
      before ?? Buffer.alloc(0),
      element('1f43b675', element('e7', number(0, 1)), blocks ?? blocksOf(50, silence)),
    ),
  ]);
}
