/** Files of a few megabytes that need minutes or gigabytes in a careless reader. */
import { deflateSync } from 'node:zlib';
import { wideFlac } from '../bombs/silence.ts';
import type { Source } from './malformed.ts';
import {
  ascii,
  blocksOf,
  box,
  element,
  ftyp,
  number,
  oggPage,
  silence,
  times,
  webm,
  words,
} from './writers.ts';

const tagCount = 100_000;

/** Unique names: a reader that searches the list for each is quadratic. */
function comments(): Buffer {
  const list = times(tagCount, (index) => {
    const text = ascii(`K${index}=x`);
    return Buffer.concat([number(text.length, 4, 'little'), text]);
  });
  return Buffer.concat([number(0, 4), number(tagCount, 4, 'little'), list]);
}

function flacOfComments(flac: Buffer): Buffer {
  const info = Buffer.from(flac.subarray(0, 42));
  info[4] = 0;
  const list = comments();
  const frames = flac.indexOf(Buffer.from([0xff, 0xf8]), 42);
  return Buffer.concat([info, Buffer.from([0x84]), number(list.length, 3), list, flac.subarray(frames)]);
}

/** One packet over many pages, then a second of silence. */
function opusOfComments(): Buffer {
  const tags = Buffer.concat([ascii('OpusTags'), comments()]);
  const most = 255 * 255;
  const pages = times(Math.ceil(tags.length / most), (index) =>
    oggPage(index + 1, index === 0 ? 0 : 1, tags.subarray(index * most, (index + 1) * most)),
  );
  const head = oggPage(0, 2, ascii('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0'));
  return Buffer.concat([head, pages, times(50, (index) => oggPage(1000 + index, 0, silence))]);
}

const tags = () =>
  times(tagCount, (index) =>
    element('7373', element('67c8', element('45a3', ascii(`K${index}`)), element('4487', ascii('x')))),
  );

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
  const packed = deflateSync(Buffer.alloc(9_900_000), { level: 9 });
  const compression = element('5034', element('4254', number(0, 1)));
  return webm({
    codec: 'A_MPEG/L3',
    track: element('6d80', element('6240', element('5031', number(0, 1)), compression)),
    blocks: blocksOf(1500, packed),
  });
}

function soundTrack(...tables: readonly Buffer[]): Buffer {
  const entry = box(
    'mp4a',
    Buffer.alloc(7),
    Buffer.from([1]),
    Buffer.alloc(8),
    words(0x10010, 0, 48_000 * 65_536),
  );
  return box(
    'trak',
    box('tkhd', words(7, 0, 0, 1, 0, 1), Buffer.alloc(60)),
    box(
      'mdia',
      box('mdhd', words(0, 0, 0, 48_000, 1, 0)),
      box('hdlr', words(0, 0), ascii('soun'), Buffer.alloc(13)),
      box('minf', box('stbl', box('stsd', words(0, 1), entry), ...tables)),
    ),
  );
}

const movie = (...inner: readonly Buffer[]) =>
  box('moov', box('mvhd', words(0, 0, 0, 1000, 1000), Buffer.alloc(80)), ...inner);

/** `count` samples of `size` bytes each, in `chunks` chunks at the same offset. */
const sampled = (count: number, size: number, chunks: number) =>
  soundTrack(
    box('stts', words(0, 1, count, 1024)),
    box('stsc', words(0, 1, 1, Math.ceil(count / chunks), 1)),
    box('stsz', words(0, size, count)),
    box(
      'stco',
      words(0, chunks),
      times(chunks, () => words(ftyp.length + 8)),
    ),
  );

const m4a = (data: Buffer, ...inMovie: readonly Buffer[]) =>
  Buffer.concat([ftyp, box('mdat', data), movie(...inMovie)]);

const plainTrack = () => sampled(1, 1, 1);

/** Regressions: sent unchanged at the start of every campaign. */
export function amplificationFiles(flac: Buffer): readonly Source[] {
  const files: Readonly<Record<string, () => Buffer>> = {
    'FLAC of 100,000 comments': () => flacOfComments(flac),
    'FLAC of 15 minutes in 8 channels at 384 kHz': () => wideFlac(384_000, 8, 890),
    'Opus of 100,000 comments': opusOfComments,
    'Ogg of 600,000 damaged pages': () => Buffer.alloc(600_000 * 28, ascii(`OggS${'\0'.repeat(22)}\xff\xff`)),
    'WebM of 100,000 tags': () => webm({ before: element('1254c367', tags()) }),
    'WebM of 200,000 cues the other way round': () => webm({ before: element('1c53bb6b', cues(200_000)) }),
    'WebM of packets of 10 MB': inflated,
    'AMR of 16 million empty frames': () => Buffer.concat([ascii('#!AMR\n'), Buffer.alloc(16 << 20, 0x7c)]),
    'M4A of 16 tracks of a million samples': () =>
      m4a(Buffer.alloc(9999), ...Array.from({ length: 16 }, () => sampled(1_000_000, 1, 1))),
    'M4A of 20,000 samples that are the whole file': () =>
      m4a(Buffer.alloc(8 << 20), sampled(20_000, 8 << 20, 20_000)),
    'M4A of 100,000 keys': () =>
      m4a(
        Buffer.alloc(9999),
        plainTrack(),
        times(tagCount, () => box('pssh', Buffer.alloc(28))),
      ),
    'M4A of 1,500,000 fragments': () =>
      Buffer.concat([
        ftyp,
        movie(...Array.from({ length: 16 }, plainTrack)),
        Buffer.alloc(1_500_000 * 8, box('moof')),
      ]),
  };
  return Object.entries(files).map(([name, make]) => ({ name, bytes: make() }));
}
