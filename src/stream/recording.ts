/** The audio of a session, as the client sent it, in blocks that can be transferred to a worker. */
import { type AudioFormat, frameBytesOf, headerBytes, wavHeader } from './wav.ts';

export type Recording = {
  /** Complete frames: samples of every channel. */
  frames(): number;
  append(bytes: Uint8Array): void;
  /** A WAV file of the frames from `start` to `end`. */
  wav(start: number, end: number): Uint8Array;
  /** A WAV file of all complete frames, in blocks. The recording is empty afterwards. */
  takeWav(): Uint8Array[];
};

const blockBytes = 256 * 1024;

export function createRecording(format: AudioFormat): Recording {
  const frameBytes = frameBytesOf(format);
  let blocks: Uint8Array[] = [];
  let length = 0;

  const frames = () => Math.floor(length / frameBytes);

  function append(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) {
      const offset = length % blockBytes;
      if (offset === 0) blocks.push(new Uint8Array(blockBytes));
      const part = bytes.subarray(from, from + blockBytes - offset);
      blocks.at(-1)?.set(part, offset);
      length += part.length;
      from += part.length;
    }
  }

  function wav(start: number, end: number): Uint8Array {
    const [from, to] = [start * frameBytes, end * frameBytes];
    const file = new Uint8Array(headerBytes + to - from);
    file.set(wavHeader(format, to - from));
    for (let at = from; at < to; ) {
      const offset = at % blockBytes;
      const block = blocks[Math.floor(at / blockBytes)] as Uint8Array;
      const part = block.subarray(offset, Math.min(blockBytes, offset + to - at));
      file.set(part, headerBytes + at - from);
      at += part.length;
    }
    return file;
  }

  function takeWav(): Uint8Array[] {
    const bytes = frames() * frameBytes;
    const parts = blocks.map((block, index) => block.subarray(0, Math.max(0, bytes - index * blockBytes)));
    blocks = [];
    length = 0;
    return [wavHeader(format, bytes), ...parts.filter((part) => part.length > 0)];
  }

  return { frames, append, wav, takeWav };
}
