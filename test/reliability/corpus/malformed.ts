/** Writers of MP4 boxes and EBML elements with arbitrary content. */

import { deflateSync } from 'node:zlib';
import { toneFile } from '../../../benchmarks/upload-body.ts';
import { createPrng } from '../support/prng.ts';

export const ascii = (text: string) => Buffer.from(text, 'latin1');

/** Big-endian. */
export function number(value: number, bytes: number): Buffer {
  const digits = Buffer.alloc(8);
  digits.writeBigUInt64BE(BigInt(value));
  return digits.subarray(8 - bytes);
}

/** Concatenates what `make` returns for 0 to `count` - 1. */
const times = (count: number, make: (index: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));

/** An MP4 box. */
function box(name: string, ...inner: readonly (Buffer | string)[]): Buffer {
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

// Files with forged headers, boxes and tags.

export type Source = { readonly name: string; readonly bytes: Buffer };

type Files = Readonly<Record<string, Buffer>>;

const sound = toneFile(1);
const noise = createPrng(7).bytes(48_000);
const most = Buffer.alloc(8, 0xff);
const most4 = most.subarray(4);

/** Overwrites bytes at places. */
function patched(file: Buffer, ...patches: readonly (readonly [at: number, bytes: Buffer])[]): Buffer {
  const copy = Buffer.from(file);
  for (const [at, bytes] of patches) bytes.copy(copy, at);
  return copy;
}

/** Overwrites bytes at a distance behind a text that the file holds. */
function behind(file: Buffer, text: string, distance: number, bytes: Buffer): Buffer {
  const at = file.indexOf(text, 0, 'latin1');
  if (at < 0) throw new Error(`Expected ${text} in the file, got none`);
  return patched(file, [at + distance, bytes]);
}

/** Little-endian. */
const little = (value: number, bytes: number) => number(value, bytes).reverse();

const at = { format: 20, channels: 22, rate: 24, frameBytes: 32, bits: 34, data: 40 };

/** Samples of 32 bits, all the same. */
function floats(value: number): Buffer {
  const samples = new Float32Array(10_000).fill(value);
  const data = Buffer.from(samples.buffer);
  const head = sound.subarray(0, 44);
  const format: [number, Buffer][] = [
    [at.format, little(3, 2)],
    [at.frameBytes, little(4, 2)],
    [at.bits, little(32, 2)],
    [at.data, little(data.length, 4)],
  ];
  return patched(Buffer.concat([head, data]), ...format);
}

/** RF64: the sizes are those of its ds64 chunk. */
function rf64(): Buffer {
  const sizes = Buffer.concat([ascii('ds64'), little(28, 4), Buffer.alloc(28, 0x3f)]);
  const wide = Buffer.concat([sound.subarray(0, 12), sizes, sound.subarray(12)]);
  return patched(wide, [0, ascii('RF64')], [4, most4], [at.data + sizes.length, most4]);
}

const waves: Files = {
  'WAV without samples': patched(sound, [at.data, little(0, 4)]).subarray(0, 44),
  'WAV of one byte': sound.subarray(0, 45),
  'WAV of NaN': floats(Number.NaN),
  'WAV of infinity': floats(Number.POSITIVE_INFINITY),
  'WAV of huge samples': floats(3e38),
  'WAV of denormal samples': floats(1e-42),
  'WAV at 0 Hz': patched(sound, [at.rate, little(0, 4)]),
  'WAV at 1 Hz': patched(sound, [at.rate, little(1, 4)]),
  'WAV at 4 GHz': patched(sound, [at.rate, most4]),
  'WAV without channels': patched(sound, [at.channels, little(0, 2)]),
  'WAV of 65535 channels': patched(sound, [at.channels, most.subarray(6)]),
  'WAV of 0 bits': patched(sound, [at.bits, little(0, 2)]),
  'WAV of 65535 bits': patched(sound, [at.bits, most.subarray(6)]),
  'WAV of empty frames': patched(sound, [at.frameBytes, little(0, 2)]),
  'WAV that claims 4 GB': patched(sound, [4, most4], [at.data, most4]),
  'WAV that claims nothing': patched(sound, [4, little(0, 4)], [at.data, little(0, 4)]),
  'WAV of MS ADPCM without its table': patched(sound, [at.format, little(2, 2)], [at.bits, little(4, 2)]),
  'WAV of IMA ADPCM without blocks': patched(
    sound,
    [at.format, little(17, 2)],
    [at.frameBytes, little(1, 2)],
  ),
  'RF64 of 4 million TB': rf64(),
  'RIFX with numbers the other way': patched(sound, [0, ascii('RIFX')]),
};

const ftyp = box('ftyp', 'isom\0\0\0\0isom');
const mp4 = (...rest: readonly Buffer[]) => Buffer.concat([ftyp, ...rest]);
const claim = (size: number, name: string) => Buffer.concat([number(size, 4), ascii(name)]);

/** Boxes in boxes, each closed properly. */
const nested = (name: string, depth: number) => times(depth, (level) => claim(8 * (depth - level), name));

const boxes: Files = {
  'MP4 of a head alone': ftyp,
  'MP4 of an empty moov': mp4(box('moov')),
  'MP4 of a box of 4 GB': mp4(claim(0xffffffff, 'moov'), noise.subarray(0, 999)),
  'MP4 of a box to the end': mp4(claim(0, 'mdat'), noise.subarray(0, 999)),
  'MP4 of a long box without length': mp4(claim(1, 'moov')),
  'MP4 of a box shorter than its head': mp4(claim(3, 'moov'), noise.subarray(0, 99)),
  'MP4 of 20,000 empty boxes': mp4(times(20_000, () => box('free'))),
  'MP4 of a track of nothing': mp4(box('moov', box('mvhd'), box('trak', box('mdia')))),
  'MP4 of 100,000 boxes in boxes': mp4(nested('moov', 100_000)),
  'MP4 of 100,000 tracks in tracks': mp4(nested('trak', 100_000)),
  'audiobook with digital rights': Buffer.concat([box('ftyp', 'aax \0\0\0\0'), box('moov', box('trak'))]),
};

/** EBML elements without an end, each in the one before it. */
function nestedClusters(depth: number): Buffer {
  const endless = Buffer.concat([number(1, 1), most.subarray(1)]);
  const start = Buffer.from('1a45dfa387428284', 'hex');
  const cluster = Buffer.concat([Buffer.from('1f43b675', 'hex'), endless]);
  const segment = Buffer.concat([Buffer.from('18538067', 'hex'), endless]);
  return Buffer.concat([start, ascii('webm'), segment, times(depth, () => cluster)]);
}

/** ID3v2, four bytes of length with seven bits each. */
function id3(version: number, flags: number, body: Buffer, claimed = body.length): Buffer {
  const length = [21, 14, 7, 0].map((shift) => (claimed >>> shift) & 127);
  return Buffer.concat([ascii('ID3'), Buffer.from([version, 0, flags, ...length]), body]);
}

function apeTag(claimed: number): Buffer {
  const sizes = [2000, claimed, claimed].map((value) => little(value, 4));
  return Buffer.concat([ascii('APETAGEX'), ...sizes, Buffer.alloc(12)]);
}

function tagsAround(mp3: Buffer): Files {
  const picture = Buffer.concat([ascii('APIC\0\x01\0\0\0\0\0image/png\0\x03\0'), noise]);
  const after = (...tags: readonly Buffer[]) => Buffer.concat([...tags, mp3]);
  return {
    'MP3 after a tag of every version': after(
      ...[2, 3, 4].map((version) => id3(version, 0, Buffer.alloc(40))),
    ),
    'MP3 after a tag that claims 256 MB': after(id3(4, 0, Buffer.alloc(9), 0xfffffff)),
    'MP3 after a tag of an unknown version': after(id3(255, 0xff, Buffer.alloc(40))),
    'MP3 after an unsynchronised tag': after(id3(3, 0x80, Buffer.alloc(400, 0xff))),
    'MP3 after a picture': after(id3(3, 0, picture)),
    'MP3 after 2,000 tags': after(times(2000, () => id3(4, 0, Buffer.alloc(1)))),
    'MP3 after an APE tag': after(apeTag(32)),
    'MP3 before an APE tag of 4 GB': Buffer.concat([mp3, apeTag(0xffffffff)]),
    'MP3 before old tags': Buffer.concat([mp3, apeTag(32), ascii('TAG'.padEnd(128, 'x'))]),
    'tag without MP3': id3(4, 0, Buffer.alloc(400)),
  };
}

/** Valid files that the forged ones are made of. */
export type Honest = Readonly<Record<'mp3' | 'm4a' | 'flac' | 'caf' | 'aiff', Buffer>>;

export function malformedFiles({ mp3, m4a, flac, caf, aiff }: Honest): readonly Source[] {
  const made: Files = {
    'no bytes': Buffer.alloc(0),
    'one byte': Buffer.from([0xff]),
    ...waves,
    ...boxes,
    ...tagsAround(mp3),
    'MP3 of 4,000 million frames': behind(mp3, 'Info', 8, most4),
    'FLAC of 64,000 million samples': patched(flac, [21, most.subarray(3)]),
    'AIFF of 4,000 million frames': behind(aiff, 'COMM', 10, most4),
    'CAF of 2^62 packets': behind(caf, 'pakt', 12, Buffer.concat([number(0x3f, 1), most.subarray(1)])),
    'M4A of an endless track': behind(m4a, 'mdhd', 16, most4),
    'M4A of 2,000 million samples': behind(m4a, 'stsz', 8, Buffer.from('000000017fffffff', 'hex')),
    'M4A of 4,000 million times': behind(m4a, 'stts', 8, most4),
    'M4A of 4,000 million chunks': behind(m4a, 'stco', 8, most4),
    ...Object.fromEntries(
      ['enca', 'drms', 'aavd', 'xxxx'].map((tag) => [
        `M4A called ${tag}`,
        behind(m4a, 'mp4a', 0, ascii(tag)),
      ]),
    ),
    'WebM of 20,000 clusters in clusters': nestedClusters(20_000),
    'page of Ogg without a stream': ascii('OggS\0\x02'.padEnd(60, '\0')),
  };
  return Object.entries(made).map(([name, bytes]) => ({ name, bytes }));
}

// Files of a few megabytes that need minutes or gigabytes in a careless reader. `test/native/decode` tests others.

/** In descending order: each is inserted before all others. */
const cues = (count: number) =>
  times(count, (index) =>
    element(
      'bb',
      element('b3', number(count - index, 4)),
      element('b7', element('f7', number(1, 1)), element('f1', number(9, 1))),
    ),
  );

/** Packets of ten kilobytes that are ten megabytes of zeros. */
function inflated(): Buffer {
  const packet = deflateSync(Buffer.alloc(9_900_000), { level: 9 });
  const compression = element('5034', element('4254', number(0, 1)));
  const track = element('6d80', element('6240', element('5031', number(0, 1)), compression));
  return webm({ codec: 'A_MPEG/L3', track, packet, packets: 1500 });
}

/** Sent unchanged at the start of every campaign. */
export const amplificationFiles = (m4a: Buffer): readonly Source[] => [
  { name: 'WebM of 200,000 cues', bytes: webm({ before: element('1c53bb6b', cues(200_000)) }) },
  { name: 'WebM of packets of 10 MB', bytes: inflated() },
  { name: 'M4A of 1,500,000 fragments', bytes: Buffer.concat([m4a, Buffer.alloc(12_000_000, box('moof'))]) },
];
