/** Containers with extreme numbers, misplaced codecs and unusual lacing. */

import { createPrng } from '../support/prng.ts';
import type { Source } from './malformed.ts';
import { ascii, blocksOf, element, number, oggPage, silence, times, webm, words } from './writers.ts';

const noise = createPrng(8).bytes(16_000);

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}

const signed = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
};

type Files = Readonly<Record<string, Buffer>>;

const rates = {
  NaN: Number.NaN,
  infinite: Number.POSITIVE_INFINITY,
  negative: -48_000,
  huge: 1e308,
  broken: 44_100.5,
  '3999': 3999,
  '384001': 384_001,
};

const caf = (format: string, bytes: number, frames: number, rate: number, more: Buffer = Buffer.alloc(0)) =>
  Buffer.concat([
    ascii('caff\0\x01\0\0desc'),
    number(32, 8),
    double(rate),
    ascii(format),
    words(0, bytes, frames, 1, 16),
    more,
    ascii('data'),
    number(noise.length + 4, 8),
    words(0),
    noise,
  ]);

const cafs: Files = {
  ...Object.fromEntries(
    Object.entries(rates).map(([name, rate]) => [`CAF of a rate: ${name}`, caf('lpcm', 2, 1, rate)]),
  ),
  'CAF of packets without bytes or frames': caf('lpcm', 0, 0, 16_000),
  'CAF of ALAC without a cookie': caf('alac', 0, 4096, 16_000),
  'CAF of AAC without packets': caf('aac ', 0, 1024, 16_000),
  'CAF of a chunk that goes back': caf('lpcm', 2, 1, 16_000, Buffer.concat([ascii('free'), signed(-12n)])),
  'CAF of a chunk without end': caf('lpcm', 2, 1, 16_000, Buffer.concat([ascii('kuki'), signed(2n ** 62n)])),
  'CAF of 2^62 packets': caf(
    'aac ',
    0,
    1024,
    16_000,
    Buffer.concat([ascii('pakt'), number(24, 8), signed(2n ** 62n), Buffer.alloc(16)]),
  ),
};

/** `rate`: of 80 bits. */
const aiff = (coding: string, channels: number, bits: number, rate: string) => {
  const common = Buffer.concat([
    number(channels, 2),
    words(8000),
    number(bits, 2),
    Buffer.from(rate, 'hex'),
    ascii(`${coding}\0\0`),
  ]);
  const body = Buffer.concat([
    ascii('AIFCCOMM'),
    words(common.length),
    common,
    ascii('SSND'),
    words(noise.length + 8, 0, 0),
    noise,
  ]);
  return Buffer.concat([ascii('FORM'), words(body.length), body]);
};

const sixteenThousand = '400cfa00000000000000';
const aiffCodings = [
  'NONE',
  'sowt',
  'fl32',
  'fl64',
  'ulaw',
  'ima4',
  'MAC3',
  'in24',
  'GSM ',
  'QDM2',
  '\0\0\0\0',
];

const aiffs: Files = {
  ...Object.fromEntries(
    aiffCodings.map((coding) => [`AIFF of ${coding.trim()}`, aiff(coding, 1, 16, sixteenThousand)]),
  ),
  'AIFF of an infinite rate': aiff('NONE', 1, 16, '7fff8000000000000000'),
  'AIFF of no rate': aiff('NONE', 1, 16, '00000000000000000000'),
  'AIFF of a negative rate': aiff('NONE', 1, 16, 'c00cfa00000000000000'),
  'AIFF without channels': aiff('NONE', 0, 16, sixteenThousand),
  'AIFF of 64 bits': aiff('sowt', 2, 64, sixteenThousand),
};

const laced = Buffer.concat([silence, silence, silence, silence]);
const codecs = [
  'A_ALAC',
  'A_WAVPACK4',
  'A_VORBIS',
  'A_AAC',
  'A_FLAC',
  'A_MPEG/L3',
  'A_MS/ACM',
  'A_QUICKTIME',
  'A_TRUEHD',
];

const webms: Files = {
  ...Object.fromEntries(
    codecs.map((codec) => [
      `WebM of ${codec} that is none`,
      webm({ codec, blocks: blocksOf(40, noise.subarray(0, 300)) }),
    ]),
  ),
  'WebM laced as Xiph does': webm({
    blocks: blocksOf(40, Buffer.concat([Buffer.from([3, 3, 3, 3]), laced]), 0x82),
  }),
  'WebM laced in equal parts': webm({ blocks: blocksOf(40, Buffer.concat([Buffer.from([3]), laced]), 0x84) }),
  'WebM laced by differences': webm({
    blocks: blocksOf(40, Buffer.concat([Buffer.from([3, 0x83, 0xbf, 0xbf]), laced]), 0x86),
  }),
  'WebM laced beyond its blocks': webm({
    blocks: blocksOf(40, Buffer.concat([Buffer.from([255, 0x3f, 0xff]), laced]), 0x86),
  }),
  'WebM of a delay of centuries': webm({ track: element('56aa', number(2 ** 52, 8)) }),
  'WebM of packets that last centuries': webm({ track: element('23e383', number(2 ** 52, 8)) }),
  'WebM of times that are no numbers': webm({ track: element('23314f', double(Number.NaN)) }),
};

/** All codings of a number, known and unknown, in blocks of odd sizes. */
const wav = (tag: number, block: number, bits: number) =>
  Buffer.concat([
    ascii('RIFF\0\0\0\x80WAVEfmt '),
    number(20, 4, 'little'),
    number(tag, 2, 'little'),
    number(1, 2, 'little'),
    number(16_000, 4, 'little'),
    number(8000, 4, 'little'),
    number(block, 2, 'little'),
    number(bits, 2, 'little'),
    number(2, 2, 'little'),
    number(505, 2, 'little'),
    ascii('data'),
    number(noise.length, 4, 'little'),
    noise,
  ]);

const wavTags = [
  0, 2, 6, 0x11, 0x20, 0x31, 0x45, 0x50, 0x55, 0x64, 0x65, 0xff, 0x161, 0x28f, 0x2000, 0x566f, 0x6771, 0x704f,
  0xf1ac,
];

const wavs: Files = Object.fromEntries(
  wavTags.flatMap((tag) =>
    [0, 1, 256].map((block) => [`WAV of coding ${tag} in blocks of ${block}`, wav(tag, block, 4)]),
  ),
);

/** Frames of each type, reserved types included. */
const amrs: Files = Object.fromEntries(
  ['#!AMR\n', '#!AMR-WB\n'].flatMap((magic) =>
    Array.from({ length: 16 }, (_, type) => [
      `${magic.trim()} of frames of type ${type}`,
      Buffer.concat([
        ascii(magic),
        times(40, (index) =>
          Buffer.concat([Buffer.from([(type << 3) | 4]), noise.subarray(index, index + 31)]),
        ),
      ]),
    ]),
  ),
);

const opus = (head: string, packet: Buffer) =>
  Buffer.concat([
    oggPage(0, 2, ascii(`OpusHead${head}`)),
    oggPage(1, 0, ascii('OpusTags\0\0\0\0\0\0\0\0')),
    times(40, (index) => oggPage(index + 2, 0, packet)),
  ]);

const opuses: Files = {
  'Opus without channels': opus('\x01\0\0\0\x80\xbb\0\0\0\0\0', silence),
  'Opus of 255 channels': opus(`\x01\xff\0\0\x80\xbb\0\0\0\0\xff\xff\0${'\xff'.repeat(255)}`, silence),
  'Opus that skips more than it has': opus('\x01\x01\xff\xff\x80\xbb\0\0\0\0\0', silence),
  'Opus as loud as can be': opus('\x01\x01\0\0\x80\xbb\0\0\xff\x7f\0', silence),
  'Opus of empty packets': opus('\x01\x01\0\0\x80\xbb\0\0\0\0\0', Buffer.alloc(0)),
  'Opus of noise': opus('\x01\x01\0\0\x80\xbb\0\0\0\0\0', noise.subarray(0, 200)),
};

export function oddContainers(): readonly Source[] {
  const files = { ...cafs, ...aiffs, ...webms, ...wavs, ...amrs, ...opuses };
  return Object.entries(files).map(([name, bytes]) => ({ name, bytes }));
}
