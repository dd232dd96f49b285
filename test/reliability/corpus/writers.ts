/** Writers of MP4 boxes and EBML elements with arbitrary content. */

export const ascii = (text: string) => Buffer.from(text, 'latin1');

/** Big-endian. */
export function number(value: number, bytes: number): Buffer {
  const digits = Buffer.alloc(8);
  digits.writeBigUInt64BE(BigInt(value));
  return digits.subarray(8 - bytes);
}

/** Concatenates what `make` returns for 0 to `count` - 1. */
export const times = (count: number, make: (index: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));

/** An MP4 box. */
export function box(name: string, ...inner: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(inner.map((part) => (typeof part === 'string' ? ascii(part) : part)));
  return Buffer.concat([number(body.length + 8, 4), ascii(name), body]);
}

/** An EBML element; `id` is hexadecimal. */
export function element(id: string, ...inner: readonly Buffer[]): Buffer {
  const body = Buffer.concat(inner);
  return Buffer.concat([Buffer.from(id, 'hex'), Buffer.from([0x08]), number(body.length, 4), body]);
}

type WebM = {
  readonly codec?: string;
  /** More elements of the track, and elements before the blocks. */
  readonly track?: Buffer;
  readonly before?: Buffer;
  readonly packet?: Buffer;
  readonly packets?: number;
};

/** 20 ms of silence. */
const opusPacket = Buffer.from([0xfc, 0xff, 0xfe]);

export function webm({ codec = 'A_OPUS', packet = opusPacket, packets = 50, ...more }: WebM): Buffer {
  const { track = Buffer.alloc(0), before = Buffer.alloc(0) } = more;
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
  const blocks = times(packets, (index) =>
    element('a3', Buffer.from([0x81]), number(index, 2), Buffer.from([0x80]), packet),
  );
  return Buffer.concat([
    element('1a45dfa3', element('4282', ascii('webm'))),
    element(
      '18538067',
      element('1549a966', element('2ad7b1', number(1_000_000, 4))),
      element('1654ae6b', entry),
      before,
      element('1f43b675', element('e7', number(0, 1)), blocks),
    ),
  ]);
}
