/** Parses the form of a job upload into chunks and a digest. */

import type { Hmac } from 'node:crypto';
import { tooLarge } from '../errors.ts';
import { baselineNames, createFormReader, type RecordingName } from '../form.ts';
import type { Cipher } from './cipher.ts';
import { createPartDigest, digestRequest } from './request-digest.ts';
import type { UploadedForm } from './upload-protocol.ts';
import { chunkBytes } from './upload-store.ts';

type UploadChunk = {
  readonly name: RecordingName;
  readonly index: number;
  readonly bytes: Uint8Array;
};

export type UploadReader = {
  /** @throws ServiceError */
  write(block: Uint8Array): void;
  /** Completes the last chunk. @throws ServiceError when the form is incomplete */
  end(): UploadedForm;
  /** Removes and returns the complete chunks. */
  drainChunks(): readonly UploadChunk[];
  /** Number of body bytes, not counted before, whose memory is free once the drained chunks are written. */
  drainReleased(): number;
};

/** Not Buffer.concat: a buffer of the shared pool cannot be transferred. */
function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  chunks.reduce((at, chunk) => {
    bytes.set(chunk, at);
    return at + chunk.length;
  }, 0);
  return bytes;
}

/** @param maxBytes maximum of all recordings together */
export function createUploadReader(
  boundary: string,
  maxBytes: number,
  cipher: Pick<Cipher, 'digestKey'>,
): UploadReader {
  const key = cipher.digestKey;
  const digests = new Map<RecordingName, Hmac>();
  const open = { name: 'audio' as RecordingName, index: 0, chunks: [] as Uint8Array[], length: 0 };
  let complete: UploadChunk[] = [];
  let total = 0;
  let received = 0;
  let released = 0;

  function completeChunk(): void {
    if (open.length === 0) return;
    complete.push({ name: open.name, index: open.index++, bytes: join(open.chunks, open.length) });
    open.chunks = [];
    open.length = 0;
  }

  function digestOf(name: RecordingName): Hmac {
    const digest = digests.get(name) ?? createPartDigest(key, name);
    digests.set(name, digest);
    return digest;
  }

  function onBytes(name: RecordingName, bytes: Uint8Array): void {
    total += bytes.length;
    if (total > maxBytes) throw tooLarge(maxBytes);
    if (name !== open.name) {
      completeChunk();
      open.name = name;
      open.index = 0;
    }
    digestOf(name).update(bytes);
    open.chunks.push(bytes);
    open.length += bytes.length;
    if (open.length >= chunkBytes) completeChunk();
  }

  const form = createFormReader(boundary, onBytes);
  return {
    write(block) {
      received += block.length;
      form.write(block);
    },
    end() {
      const read = form.end();
      completeChunk();
      const audio = digestOf('audio').digest('hex');
      const baselines = read.sizes.baselines.map((_, index) =>
        digestOf(baselineNames[index] as RecordingName).digest('hex'),
      );
      const digest = digestRequest(key, { ...read, source: { audio, baselines } });
      return { ...read, digest };
    },
    drainChunks() {
      const drained = complete;
      complete = [];
      return drained;
    },
    drainReleased() {
      const freed = received - open.length - released;
      released += freed;
      return freed;
    },
  };
}
