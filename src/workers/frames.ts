/**
 * Messages over a stream socket between the service and an analysis process: two lengths (uint32 of the machine's byte
 * order), a value in V8's serialization format, and bytes.
 */
import { deserialize, serialize } from 'node:v8';

export type Frame<Message> = { readonly message: Message; readonly bytes: Uint8Array };

const lengthsBytes = 2 * Uint32Array.BYTES_PER_ELEMENT;

/** @param blocks become the `bytes` of the frame */
export function encodeFrame(message: unknown, blocks: readonly Uint8Array[] = []): readonly Uint8Array[] {
  const header = serialize(message);
  const length = blocks.reduce((total, block) => total + block.length, 0);
  return [new Uint8Array(Uint32Array.of(header.length, length).buffer), header, ...blocks];
}

/** @param read fills a buffer completely, and returns false at the end of the stream */
export function readFrame<Message>(read: (target: Uint8Array) => boolean): Frame<Message> | null {
  const lengths = new Uint32Array(2);
  if (!read(new Uint8Array(lengths.buffer))) return null;
  const header = new Uint8Array(lengths[0] as number);
  const bytes = new Uint8Array(lengths[1] as number);
  return read(header) && read(bytes) ? { message: deserialize(header), bytes } : null;
}

/** Joins the chunks of a stream to frames. */
export function createFrameDecoder<Message>(onFrame: (frame: Frame<Message>) => void) {
  let chunks: Uint8Array[] = [];
  let held = 0;
  let wanted = lengthsBytes;
  return (chunk: Uint8Array): void => {
    chunks.push(chunk);
    held += chunk.length;
    while (held >= wanted) {
      const joined = Buffer.concat(chunks);
      const lengths = new Uint32Array(Uint8Array.from(joined.subarray(0, lengthsBytes)).buffer);
      const bytesAt = lengthsBytes + (lengths[0] as number);
      const end = bytesAt + (lengths[1] as number);
      if (held >= end) {
        const message = deserialize(joined.subarray(lengthsBytes, bytesAt));
        onFrame({ message, bytes: joined.subarray(bytesAt, end) });
      }
      const rest = held >= end ? joined.subarray(end) : joined;
      [chunks, held, wanted] = [[rest], rest.length, held >= end ? lengthsBytes : end];
    }
  };
}
