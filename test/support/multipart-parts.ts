/** Every part of a form, as the reader of uploads passes it on. */
import type { PartHeaders } from '../../src/service/multipart.ts';
import { createMultipartReader } from '../../src/service/multipart.ts';

export type Part = PartHeaders & { readonly bytes: Uint8Array };

/** The contents are views of a body that is a single block. @throws Failure */
export function readParts(blocks: readonly Uint8Array[], boundary: string): Part[] {
  const parts: Part[] = [];
  const reader = createMultipartReader(boundary, (headers) => {
    const pieces: Uint8Array[] = [];
    return {
      data: (bytes) => pieces.push(bytes),
      end: () =>
        parts.push({
          ...headers,
          bytes: pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces),
        }),
    };
  });
  for (const block of blocks) reader.write(block);
  reader.end();
  return parts;
}

/** The body in blocks whose lengths repeat; the last one may be shorter. */
export function toBlocks(body: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < body.length; ) {
    const length = lengths[blocks.length % lengths.length] ?? body.length;
    blocks.push(body.subarray(at, at + length));
    at += length;
  }
  return blocks;
}
