/** The audio of a session, as the client sent it, in blocks that can be transferred to a worker. */
import { frameBytesOf, type SampleFormat } from '../../engine/index.ts';

export type Recording = ReturnType<typeof createRecording>;

const blockBytes = 256 * 1024;

export function createRecording(format: Pick<SampleFormat, 'encoding' | 'channels'>) {
  const frameBytes = frameBytesOf(format);
  let blocks: Uint8Array[] = [];
  let length = 0;

  /** Complete frames: samples of every channel. */
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

  /** A copy of the frames from `start` to `end`, in shared memory. */
  function slice(start: number, end: number): Uint8Array {
    const [from, to] = [start * frameBytes, end * frameBytes];
    const bytes = new Uint8Array(new SharedArrayBuffer(to - from));
    for (let at = from; at < to; ) {
      const offset = at % blockBytes;
      const block = blocks[Math.floor(at / blockBytes)] as Uint8Array;
      const part = block.subarray(offset, Math.min(blockBytes, offset + to - at));
      bytes.set(part, at - from);
      at += part.length;
    }
    return bytes;
  }

  /** All complete frames, in blocks. The recording is empty afterwards. */
  function take(): Uint8Array[] {
    const bytes = frames() * frameBytes;
    const parts = blocks.map((block, index) => block.subarray(0, Math.max(0, bytes - index * blockBytes)));
    blocks = [];
    length = 0;
    return parts.filter((part) => part.length > 0);
  }

  return { frames, append, slice, take };
}
