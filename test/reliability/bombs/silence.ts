/** Valid files with hours of silence in a few kilobytes. */
import { crc8, crc16 } from '../corpus/checksums.ts';
import { oggPage } from '../corpus/writers.ts';
import { encode, loop } from './ffmpeg.ts';

const flacRate = 44_100;
const flacBlock = 65_535;

/** 20 bits of rate, 3 of channels - 1, 5 of bits - 1, 36 of samples (0: unknown), as FLAC's STREAMINFO has them. */
function streamInfo(rate: number, samples: number, channels = 1): Buffer {
  const info = Buffer.alloc(42);
  info.write('fLaC\x80\0\0\x22', 0, 'latin1');
  info.writeUInt16BE(16, 8);
  info.writeUInt16BE(flacBlock, 10);
  info.writeUInt32BE(
    ((rate << 12) | ((channels - 1) << 9) | (15 << 4) | Math.floor(samples / 2 ** 32)) >>> 0,
    18,
  );
  info.writeUInt32BE(samples >>> 0, 22);
  return info;
}

/** As UTF-8 writes a character, up to 21 bits. */
function codedNumber(value: number): number[] {
  if (value < 0x80) return [value];
  if (value < 0x800) return [0xc0 | (value >> 6), 0x80 | (value & 63)];
  const tail = [0x80 | ((value >> 6) & 63), 0x80 | (value & 63)];
  return value < 0x10000
    ? [0xe0 | (value >> 12), ...tail]
    : [0xf0 | (value >> 18), 0x80 | ((value >> 12) & 63), ...tail];
}

/** One frame whose samples are all zero. `rateCode`: 0 for that of the stream, 9 for 44.1 kHz, 10 for 48 kHz. */
function constantFrame(number: number, samples: number, rateCode: number, channels = 1): Buffer {
  const size = samples - 1;
  const layout = ((channels - 1) << 4) | 8;
  const head = [0xff, 0xf8, 0x70 | rateCode, layout, ...codedNumber(number), size >> 8, size & 255];
  const frame = [...head, crc8(head), ...Array.from({ length: 3 * channels }, () => 0)];
  const check = crc16(frame);
  return Buffer.from([...frame, check >> 8, check & 255]);
}

/** 14 bytes for a second and a half. */
export function silentFlac(hours: number, claimed: boolean): Buffer {
  const frames = Math.ceil((hours * 3600 * flacRate) / flacBlock);
  const blocks = Array.from({ length: frames }, (_, index) => constantFrame(index, flacBlock, 0));
  return Buffer.concat([streamInfo(flacRate, claimed ? frames * flacBlock : 0), ...blocks]);
}

/** Three bytes a channel for 65,535 samples. */
export function wideFlac(rate: number, channels: number, seconds: number): Buffer {
  const frames = Math.floor((seconds * rate) / flacBlock);
  const blocks = Array.from({ length: frames }, (_, index) => constantFrame(index, flacBlock, 0, channels));
  return Buffer.concat([streamInfo(rate, 0, channels), ...blocks]);
}

/** Frames alternate between two rates, each of which needs another resampler. */
export function rateChangingFlac(frames: number): Buffer {
  const blocks = Array.from({ length: frames }, (_, index) => constantFrame(index, 16, 9 + (index % 2)));
  return Buffer.concat([streamInfo(flacRate, 0), ...blocks]);
}

/** RFC 6716: six frames of 20 ms in 14 bytes, each of them silence. */
const opusPacket = Buffer.from([0xfb, 0x06, ...Array.from({ length: 6 }, () => [0xff, 0xfe]).flat()]);
const opusHead = Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1');
const opusTags = Buffer.from('OpusTags\0\0\0\0\0\0\0\0', 'latin1');

export function silentOpus(hours: number): Buffer {
  const packets = Math.ceil((hours * 3600) / 0.12);
  const pages = Array.from({ length: Math.ceil(packets / 255) }, (_, index) =>
    oggPage(index + 2, 0, new Array<Buffer>(255).fill(opusPacket), (index + 1) * 255 * 5760),
  );
  return Buffer.concat([oggPage(0, 2, opusHead), oggPage(1, 0, opusTags), ...pages]);
}

/** Complete files of a quarter of a second, one behind the other. */
export function chainedOpus(links: number): Buffer {
  const packets = [opusPacket, opusPacket];
  const link = [oggPage(0, 2, opusHead), oggPage(1, 0, opusTags), oggPage(2, 4, packets, 11_520)];
  return Buffer.concat(Array.from({ length: links }, () => link).flat());
}

/** One encoded minute, repeated by ffmpeg without encoding it again. */
export function silentM4a(hours: number): Buffer {
  return loop(encode('silence.m4a', ['-ar', '8000', '-c:a', 'aac', '-b:a', '8k']), 'm4a', hours);
}

export function silentMp3(hours: number): Buffer {
  return loop(encode('silence.mp3', ['-ar', '8000', '-c:a', 'libmp3lame', '-b:a', '8k']), 'mp3', hours);
}

export function silentVorbis(hours: number): Buffer {
  return loop(encode('silence.ogg', ['-ar', '8000', '-c:a', 'libvorbis', '-q:a', '0']), 'ogg', hours);
}
