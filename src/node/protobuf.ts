/** Fields of protobuf messages, read and written in place: https://protobuf.dev/programming-guides/encoding */

type Field = {
  readonly number: number;
  /** A varint, or the bytes of a string, a message or a packed list; fixed numbers are bytes as well. */
  readonly value: bigint | Uint8Array;
  /** The whole field as it is written. */
  readonly raw: Uint8Array;
};

const malformed = () => new Error('Expected a protobuf message, got something else');
const maxVarintBytes = 10;
const maxSmallBytes = 5;

/** @throws Error for bytes that are no message; views share the memory of `bytes` */
export function* readFields(bytes: Uint8Array): Generator<Field> {
  let at = 0;
  const nextByte = (): number => {
    const byte = bytes[at++];
    if (byte === undefined) throw malformed();
    return byte;
  };
  const readVarint = (): bigint => {
    let value = 0n;
    for (let index = 0; index < maxVarintBytes; index++) {
      const byte = nextByte();
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw malformed();
  };
  /** Keys and lengths: numbers of 32 bits, of which other readers drop further bits. */
  const readSmall = (): number => {
    let value = 0;
    for (let index = 0; index < maxSmallBytes; index++) {
      const byte = nextByte();
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (value >= 2 ** 32) throw malformed();
      if (byte < 0x80) return value;
    }
    throw malformed();
  };
  const take = (length: number): Uint8Array => {
    if (length > bytes.length - at) throw malformed();
    at += length;
    return bytes.subarray(at - length, at);
  };
  const readValue = (wire: number): bigint | Uint8Array => {
    if (wire === 0) return readVarint();
    if (wire === 1) return take(8);
    if (wire === 2) return take(readSmall());
    if (wire === 5) return take(4);
    throw malformed();
  };
  while (at < bytes.length) {
    const from = at;
    const key = readSmall();
    const number = Math.floor(key / 8);
    if (number === 0) throw malformed();
    const value = readValue(key % 8);
    yield { number, value, raw: bytes.subarray(from, at) };
  }
}

/** The values of the fields with this number that are bytes. */
export function bytesOf(message: Uint8Array, number: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const field of readFields(message))
    if (field.number === number && typeof field.value !== 'bigint') found.push(field.value);
  return found;
}

/** The last value, as protobuf has it; null when the field is absent. @throws Error for bytes that are not UTF-8 */
export function textOf(message: Uint8Array, number: number): string | null {
  const last = bytesOf(message, number).at(-1);
  return last === undefined ? null : new TextDecoder('utf-8', { fatal: true }).decode(last);
}

/** The last varint, as a signed 64-bit number; null when the field is absent. */
export function integerOf(message: Uint8Array, number: number): number | null {
  let last: number | null = null;
  for (const field of readFields(message))
    if (field.number === number && typeof field.value === 'bigint')
      last = Number(BigInt.asIntN(64, field.value));
  return last;
}

function writeVarint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  do {
    const more = rest > 0x7fn;
    bytes.push(Number(rest & 0x7fn) | (more ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Uint8Array.from(bytes);
}

/** Large values stay separate parts, which `Buffer.concat` copies once. */
export type Parts = readonly Uint8Array[];

export const integerField = (number: number, value: number): Parts => [
  writeVarint(BigInt(number * 8)),
  writeVarint(BigInt(value)),
];

export function bytesField(number: number, value: string | Uint8Array | Parts): Parts {
  const parts =
    typeof value === 'string' ? [Buffer.from(value)] : value instanceof Uint8Array ? [value] : value;
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return [writeVarint(BigInt(number * 8 + 2)), writeVarint(BigInt(length)), ...parts];
}

export function floatField(number: number, value: number): Parts {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, value, true);
  return [writeVarint(BigInt(number * 8 + 5)), bytes];
}
