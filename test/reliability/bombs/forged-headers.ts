/** Small files whose headers declare enormous content. */
import { wavFile } from '../../../benchmarks/wav.ts';
import { box } from '../corpus/writers.ts';
import { tone } from './ffmpeg.ts';

const second = wavFile(
  Float32Array.from({ length: 16_000 }, (_, index) => 0.3 * Math.sin((2 * Math.PI * 220 * index) / 16_000)),
);

function patched(file: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(file);
  change(copy);
  return copy;
}

/** Overwrites bytes at a distance behind a text that the file holds. */
function behind(file: Buffer, text: string, distance: number, bytes: readonly number[]): Buffer {
  const at = file.indexOf(text, 0, 'latin1');
  if (at < 0) throw new Error(`Expected ${text} in the file, got none`);
  return patched(file, (copy) => copy.set(bytes, at + distance));
}

const all = [0xff, 0xff, 0xff, 0xff];

/** Boxes in boxes, each closed properly. */
function nestedBoxes(name: string, depth: number): Buffer {
  const heads = Buffer.alloc(8 * depth);
  for (let level = 0; level < depth; level++) {
    heads.writeUInt32BE(8 * (depth - level), 8 * level);
    heads.write(name, 8 * level + 4, 'latin1');
  }
  return Buffer.concat([box('ftyp', Buffer.from('M4A \0\0\0\0')), heads]);
}

/** Elements of EBML without an end, each in the one before it. */
function nestedElements(depth: number): Buffer {
  const segment = Buffer.from([0x18, 0x53, 0x80, 0x67, 0x01, ...all, ...all.slice(1)]);
  const cluster = Buffer.from([0x1f, 0x43, 0xb6, 0x75, 0x01, ...all, ...all.slice(1)]);
  const start = Buffer.from('\x1a\x45\xdf\xa3\x87\x42\x82\x84webm', 'latin1');
  return Buffer.concat([start, segment, ...Array.from({ length: depth }, () => cluster)]);
}

/** RF64: the sizes are those of its ds64 chunk. */
function wideWav(): Buffer {
  const sizes = Buffer.alloc(36);
  sizes.write('ds64', 0, 'latin1');
  sizes.writeUInt32LE(28, 4);
  for (const at of [8, 16, 24]) sizes.writeBigUInt64LE(2n ** 62n, at);
  const wide = Buffer.concat([second.subarray(0, 12), sizes, second.subarray(12)]);
  return patched(wide, (copy) => {
    copy.write('RF64', 0, 'latin1');
    copy.set(all, 4);
    copy.set(all, 36 + 40);
  });
}

function tagged(): Buffer {
  const tag = Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1');
  return Buffer.concat([tag, tone('tone.mp3', ['-c:a', 'libmp3lame'])]);
}

export function forgedHeaders(): Record<string, Buffer> {
  const m4a = tone('tone.m4a', ['-c:a', 'aac']);
  const mp3 = tone('tone.mp3', ['-c:a', 'libmp3lame', '-q:a', '4']);
  const caf = tone('tone.caf', ['-c:a', 'alac']);
  const aiff = tone('tone.aiff', ['-c:a', 'pcm_s16be']);
  const flac = tone('tone.flac', ['-c:a', 'flac']);
  return {
    'MP3 of 4,000 million frames': behind(mp3, 'Xing', 8, all),
    'MP3 behind a tag of 256 MB': tagged(),
    'WAV of 2 GB': patched(second, (copy) => copy.writeUInt32LE(2_000_000_000, 40)),
    'RF64 of 4 million TB': wideWav(),
    'WAV of 1 Hz': patched(second, (copy) => copy.writeUInt32LE(1, 24)),
    'WAV of 4 GHz': patched(second, (copy) => copy.set(all, 24)),
    'WAV of 65,535 channels': patched(second, (copy) => copy.set([0xff, 0xff], 22)),
    'FLAC of 64,000 million samples': patched(flac, (copy) => copy.set([0xff, ...all], 21)),
    'AIFF of 4,000 million frames': behind(aiff, 'COMM', 10, all),
    'CAF of 2^62 packets': behind(caf, 'pakt', 12, [0x3f, ...all, ...all.slice(1)]),
    'M4A of 2,000 million samples': behind(m4a, 'stsz', 8, [0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff]),
    'M4A of 4,000 million times': behind(m4a, 'stts', 8, all),
    'M4A of 4,000 million chunks': behind(m4a, 'stco', 8, all),
    'M4A of 100,000 boxes in boxes': nestedBoxes('moov', 100_000),
    'M4A of 100,000 tracks in tracks': nestedBoxes('trak', 100_000),
    'WebM of 20,000 clusters in clusters': nestedElements(20_000),
  };
}
