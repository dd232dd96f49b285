/** Files with forged headers, boxes and tags. */
import { createPrng } from '../support/prng.ts';
import { box } from './writers.ts';

export type Source = { readonly name: string; readonly bytes: Buffer };

type Wave = {
  readonly magic?: string;
  readonly tag?: number;
  readonly channels?: number;
  readonly rate?: number;
  readonly bits?: number;
  readonly frameBytes?: number;
  readonly riffSize?: number;
  readonly dataSize?: number;
  readonly data?: Buffer;
};

const noise = createPrng(7).bytes(48_000);

/** A RIFF file with arbitrary header fields. */
function wave(claims: Wave = {}): Buffer {
  const { magic = 'RIFF', tag = 1, channels = 1, rate = 16_000, bits = 16, data = noise } = claims;
  const { frameBytes = (channels * bits) >> 3, riffSize = data.length + 36, dataSize = data.length } = claims;
  const head = Buffer.alloc(44);
  head.write(`${magic}\0\0\0\0WAVEfmt `, 0, 'latin1');
  head.writeUInt32LE(riffSize, 4);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(tag, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE((rate * frameBytes) >>> 0, 28);
  head.writeUInt16LE(frameBytes & 0xffff, 32);
  head.writeUInt16LE(bits, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(dataSize, 40);
  return Buffer.concat([head, data]);
}

function floats(value: number): Buffer {
  const data = Buffer.alloc(40_000);
  for (let at = 0; at < data.length; at += 4) data.writeFloatLE(value, at);
  return data;
}

const waves: Readonly<Record<string, Wave>> = {
  'WAV of noise': {},
  'WAV without samples': { data: Buffer.alloc(0) },
  'WAV of one byte': { data: Buffer.alloc(1) },
  'WAV of NaN': { tag: 3, bits: 32, data: floats(Number.NaN) },
  'WAV of infinity': { tag: 3, bits: 32, data: floats(Number.POSITIVE_INFINITY) },
  'WAV of huge samples': { tag: 3, bits: 32, data: floats(3e38) },
  'WAV of denormal samples': { tag: 3, bits: 32, data: floats(1e-42) },
  'WAV at 0 Hz': { rate: 0 },
  'WAV at 1 Hz': { rate: 1 },
  'WAV at 4 GHz': { rate: 0xffffffff },
  'WAV without channels': { channels: 0 },
  'WAV of 65535 channels': { channels: 65_535 },
  'WAV of 0 bits': { bits: 0 },
  'WAV of 65535 bits': { bits: 65_535 },
  'WAV of empty frames': { frameBytes: 0 },
  'WAV of huge frames': { frameBytes: 65_535 },
  'WAV that claims 4 GB': { riffSize: 0xffffffff, dataSize: 0xffffffff },
  'WAV that claims nothing': { riffSize: 0, dataSize: 0 },
  'WAV of an unknown coding': { tag: 0xfffe },
  'WAV of MS ADPCM without its table': { tag: 2, bits: 4, frameBytes: 256 },
  'WAV of IMA ADPCM without blocks': { tag: 0x11, bits: 4, frameBytes: 1 },
  'RF64 without sizes': { magic: 'RF64', riffSize: 0xffffffff, dataSize: 0xffffffff },
  'RIFX with numbers the other way': { magic: 'RIFX' },
};

const ftyp = (brand: string) => box('ftyp', `${brand}\0\0\0\0isom`);

function claim(size: number, name: string): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size, 0);
  head.write(name, 4, 'latin1');
  return head;
}

const boxes: Readonly<Record<string, Buffer>> = {
  'MP4 of a head alone': ftyp('M4A '),
  'MP4 of an empty moov': Buffer.concat([ftyp('isom'), box('moov')]),
  'MP4 of a box of 4 GB': Buffer.concat([ftyp('isom'), claim(0xffffffff, 'moov'), noise.subarray(0, 999)]),
  'MP4 of a box to the end': Buffer.concat([ftyp('isom'), claim(0, 'mdat'), noise.subarray(0, 999)]),
  'MP4 of a long box without length': Buffer.concat([ftyp('isom'), claim(1, 'moov')]),
  'MP4 of a box shorter than its head': Buffer.concat([
    ftyp('isom'),
    claim(3, 'moov'),
    noise.subarray(0, 99),
  ]),
  'MP4 of 20,000 empty boxes': Buffer.concat([
    ftyp('isom'),
    ...Array.from({ length: 20_000 }, () => box('free')),
  ]),
  'MP4 of a track of nothing': Buffer.concat([
    ftyp('isom'),
    box('moov', box('mvhd'), box('trak', box('mdia'))),
  ]),
  'audiobook with digital rights': Buffer.concat([ftyp('aax '), box('moov', box('trak')), box('mdat', 'x')]),
};

/** ID3v2, four bytes of length with seven bits each. */
function id3(version: number, flags: number, body: Buffer, claimed = body.length): Buffer {
  const length = [21, 14, 7, 0].map((shift) => (claimed >>> shift) & 127);
  return Buffer.concat([Buffer.from('ID3'), Buffer.from([version, 0, flags, ...length]), body]);
}

function apeTag(claimed: number): Buffer {
  const tag = Buffer.alloc(32);
  tag.write('APETAGEX', 0, 'latin1');
  tag.writeUInt32LE(2000, 8);
  tag.writeUInt32LE(claimed, 12);
  tag.writeUInt32LE(claimed, 16);
  return tag;
}

function tagsAround(mp3: Buffer): Readonly<Record<string, Buffer>> {
  const id3v1 = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125, 'x')]);
  const picture = Buffer.concat([Buffer.from('APIC\0\x01\0\0\0\0\0image/png\0\x03\0', 'latin1'), noise]);
  return {
    'MP3 after a tag of every version': Buffer.concat(
      [2, 3, 4].map((v) => id3(v, 0, Buffer.alloc(40))).concat(mp3),
    ),
    'MP3 after a tag that claims 256 MB': Buffer.concat([id3(4, 0, Buffer.alloc(9), 0xfffffff), mp3]),
    'MP3 after a tag of an unknown version': Buffer.concat([id3(255, 0xff, Buffer.alloc(40)), mp3]),
    'MP3 after an unsynchronised tag': Buffer.concat([id3(3, 0x80, Buffer.alloc(400, 0xff)), mp3]),
    'MP3 after a picture': Buffer.concat([id3(3, 0, picture), mp3]),
    'MP3 after 2,000 tags': Buffer.concat([
      ...Array.from({ length: 2000 }, () => id3(4, 0, Buffer.alloc(1))),
      mp3,
    ]),
    'MP3 before old tags': Buffer.concat([mp3, apeTag(32), id3v1]),
    'MP3 before an APE tag of 4 GB': Buffer.concat([mp3, apeTag(0xffffffff)]),
    'MP3 after an APE tag': Buffer.concat([apeTag(32), mp3]),
    'tag without MP3': id3(4, 0, Buffer.alloc(400)),
  };
}

/** Writes a number after the first `magic`. */
function lying(bytes: Buffer, magic: string, offset: number, value: number): Buffer {
  const lied = Buffer.from(bytes);
  const at = lied.indexOf(magic, 0, 'latin1');
  if (at >= 0 && at + offset + 4 <= lied.length) lied.writeUInt32BE(value, at + offset);
  return lied;
}

/** Other letters in place of every `from`. */
function renamed(bytes: Buffer, from: string, to: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1');
}

/** Valid files that the forged ones are made of. */
export type Honest = {
  readonly mp3: Buffer;
  readonly m4a: Buffer;
  readonly flac: Buffer;
  readonly ogg: Buffer;
};

export function malformedFiles({ mp3, m4a, flac, ogg }: Honest): readonly Source[] {
  const made: Readonly<Record<string, Buffer>> = {
    'no bytes': Buffer.alloc(0),
    'one byte': Buffer.from([0xff]),
    ...boxes,
    ...tagsAround(mp3),
    'MP3 that claims 4 billion frames': lying(lying(mp3, 'Info', 8, 0xffffffff), 'Xing', 8, 0xffffffff),
    'FLAC that claims 64 billion samples': lying(flac, 'fLaC', 22, 0xffffffff),
    'M4A of an endless track': lying(m4a, 'mdhd', 16, 0xffffffff),
    'M4A of 4 billion samples': lying(m4a, 'stsz', 12, 0xffffffff),
    'M4A of 4 billion chunks': lying(m4a, 'stco', 8, 0xffffffff),
    ...Object.fromEntries(
      ['enca', 'drms', 'aavd', 'prot', 'encv', 'xxxx'].map((tag) => [
        `M4A called ${tag}`,
        renamed(m4a, 'mp4a', tag),
      ]),
    ),
    'Ogg after Ogg': Buffer.concat([ogg, ogg]),
    'Ogg 60 times': Buffer.concat(Array.from({ length: 60 }, () => ogg.subarray(0, 6000))),
    'page of Ogg without a stream': Buffer.from('OggS\0\x02'.padEnd(60, '\0'), 'latin1'),
  };
  const named = Object.entries({
    ...Object.fromEntries(Object.entries(waves).map(([name, claims]) => [name, wave(claims)])),
    ...made,
  });
  return named.map(([name, bytes]) => ({ name, bytes }));
}
