/**
 * Entry file of the upload thread: parses the forms of job uploads. It encrypts the recordings and writes them to Redis,
 * so that the main thread only passes on blocks; without Redis it sends them back. Uploads alternate block by block.
 */

import type { Hmac } from 'node:crypto';
import { once } from 'node:events';
import { type MessagePort, workerData } from 'node:worker_threads';
import { ServiceError, serializeError, tooLarge } from '../errors.ts';
import { baselineNames, createFormReader, type RecordingName } from '../form.ts';
import { openRedis, waitForRedis } from '../redis.ts';
import { type Cipher, createCipher, createPartDigest, digestRequest } from './payload.ts';
import { createRedisAccess, createUploadStore } from './redis-uploads.ts';
import {
  chunkBytes,
  type UploadCommand,
  type UploadedForm,
  type UploadReply,
  type UploadStore,
  type UploadThreadData,
} from './upload-store.ts';

type Upload = {
  readonly id: string;
  readonly owner: string;
  readonly reader: UploadReader;
  readonly keep: boolean;
  /** Commands run in sequence. */
  work: Promise<void>;
  over: boolean;
};

/** @param port receives UploadCommand and sends UploadReply */
export async function run(port: MessagePort): Promise<void> {
  const { redisUrl, secret, settings } = workerData as UploadThreadData;
  const cipher = createCipher(secret);
  const { connected, append, remove } =
    redisUrl === null ? sendBack(port) : writeToRedis(redisUrl, cipher, settings);
  const uploads = new Map<string, Upload>();

  function receive(command: UploadCommand): void {
    const { id } = command;
    if (command.kind === 'start') {
      const reader = createUploadReader(command.boundary, command.maxBytes, cipher);
      const { owner, keep } = command;
      uploads.set(id, { id, owner, reader, keep, work: connected, over: false });
      return;
    }
    const upload = uploads.get(id);
    if (upload === undefined) return;
    if (command.kind === 'abort') {
      finish(upload);
      void upload.work.then(() => discard(upload));
      return;
    }
    upload.work = upload.work.then(() => execute(upload, command)).catch((error) => fail(upload, error));
  }

  async function execute(upload: Upload, command: UploadCommand & { kind: 'block' | 'end' }): Promise<void> {
    if (upload.over) return;
    const { id, owner, reader } = upload;
    if (command.kind === 'block') reader.write(command.bytes);
    const form = command.kind === 'end' ? reader.end() : null;
    for (const { name: part, index, bytes } of reader.drainChunks()) {
      if (upload.keep) await append({ id, owner, part, index, bytes });
      if (upload.over) return;
    }
    reply({ id, kind: 'released', bytes: reader.drainReleased() });
    if (form === null) return;
    finish(upload);
    reply({ id, kind: 'done', upload: form });
  }

  async function fail(upload: Upload, error: unknown): Promise<void> {
    if (upload.over) return;
    finish(upload);
    const { id } = upload;
    await discard(upload);
    if (error instanceof ServiceError)
      reply({ id, kind: 'failed', failure: serializeError(error), cause: error.cause });
    else reply({ id, kind: 'failed', failure: null, cause: error });
  }

  function finish(upload: Upload): void {
    upload.over = true;
    uploads.delete(upload.id);
  }

  /** Chunks that cannot be deleted expire. */
  async function discard({ id, keep }: Upload): Promise<void> {
    if (keep) await remove(id).catch(() => {});
  }

  function reply(message: UploadReply): void {
    port.postMessage(message);
  }

  port.on('message', receive);
  await once(port, 'close');
}

/** What becomes of the chunks. The first upload waits for `connected`. */
type Chunks = Pick<UploadStore, 'append'> & {
  readonly connected: Promise<void>;
  remove(id: string): Promise<void>;
};

function writeToRedis(url: string, cipher: Cipher, settings: UploadThreadData['settings']): Chunks {
  const redis = openRedis(url);
  const withRedis = createRedisAccess(redis);
  const store = createUploadStore({ redis, cipher, settings });
  return {
    connected: waitForRedis(redis).then(() => {}),
    append: (chunk) => withRedis(() => store.append(chunk)),
    remove: (id) => withRedis(() => store.delete(id)),
  };
}

/** The main thread removes what it got. */
function sendBack(port: MessagePort): Chunks {
  return {
    connected: Promise.resolve(),
    append: async (chunk) => {
      const message: UploadReply = { kind: 'chunk', ...chunk };
      port.postMessage(message, [chunk.bytes.buffer as ArrayBuffer]);
    },
    remove: async () => {},
  };
}

// Parses the form of a job upload into chunks and a digest.

type UploadChunk = {
  readonly name: RecordingName;
  readonly index: number;
  readonly bytes: Uint8Array;
};

type UploadReader = {
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
function createUploadReader(
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
