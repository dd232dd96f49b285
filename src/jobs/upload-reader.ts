/** The form of one job upload: its recordings in pieces as they are kept in Redis, and its digest. */

import { createFormReader, type RecordingName } from '../multipart/form.ts';
import { tooLarge } from '../runtime/errors.ts';
import { createPartDigest, digestRequest } from './digest.ts';
import type { Cipher } from './encryption.ts';
import type { UploadedForm } from './upload-messages.ts';
import { chunkBytes } from './upload-store.ts';

export type UploadChunk = {
  readonly name: RecordingName;
  readonly index: number;
  readonly bytes: Uint8Array;
};

export type UploadReader = {
  /** @throws Failure */
  write(block: Uint8Array): void;
  /** Completes the last piece. @throws Failure when the form is not complete */
  end(): UploadedForm;
  /** The pieces that are complete, each once. */
  drainChunks(): readonly UploadChunk[];
  /** How many more bytes of the body are not in memory any more, once the pieces are written. */
  drainReleased(): number;
};

/** @param maxBytes of all recordings together */
export function createUploadReader(
  boundary: string,
  maxBytes: number,
  cipher: Pick<Cipher, 'digestKey'>,
): UploadReader {
  const key = cipher.digestKey;
  const digests = { audio: createPartDigest(key, 'audio'), baseline: createPartDigest(key, 'baseline') };
  const open = { name: 'audio' as RecordingName, index: 0, chunks: [] as Uint8Array[], length: 0 };
  let pieces: UploadChunk[] = [];
  let total = 0;
  let received = 0;
  let released = 0;

  function complete(): void {
    if (open.length === 0) return;
    pieces.push({ name: open.name, index: open.index++, bytes: Buffer.concat(open.chunks, open.length) });
    open.chunks = [];
    open.length = 0;
  }

  function onBytes(name: RecordingName, bytes: Uint8Array): void {
    total += bytes.length;
    if (total > maxBytes) throw tooLarge(maxBytes);
    if (name !== open.name) {
      complete();
      open.name = name;
      open.index = 0;
    }
    digests[name].update(bytes);
    open.chunks.push(bytes);
    open.length += bytes.length;
    if (open.length >= chunkBytes) complete();
  }

  const form = createFormReader(boundary, onBytes);
  return {
    write(block) {
      received += block.length;
      form.write(block);
    },
    end() {
      const read = form.end();
      complete();
      const { sizes, channel, callback } = read;
      const audio = digests.audio.digest('hex');
      const baseline = sizes.baseline === 0 ? null : digests.baseline.digest('hex');
      const digest = digestRequest(key, { source: { audio, baseline }, channel, callback });
      return { ...read, digest };
    },
    drainChunks() {
      const taken = pieces;
      pieces = [];
      return taken;
    },
    drainReleased() {
      const more = received - open.length - released;
      released += more;
      return more;
    },
  };
}
