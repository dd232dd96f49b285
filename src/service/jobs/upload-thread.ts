/**
 * Entry file of the upload thread: parses the forms of job uploads. It encrypts the recordings and writes them to Redis,
 * so that the main thread only passes on blocks; without Redis it sends them back. Uploads alternate block by block.
 */

import { once } from 'node:events';
import { type MessagePort, workerData } from 'node:worker_threads';
import { ServiceError, serializeError } from '../errors.ts';
import { openRedis, waitForRedis } from '../redis.ts';
import { type Cipher, createCipher } from './cipher.ts';
import { createRedisAccess } from './redis-access.ts';
import { createUploadStore } from './redis-uploads.ts';
import type { UploadCommand, UploadReply, UploadThreadData } from './upload-protocol.ts';
import { createUploadReader, type UploadReader } from './upload-reader.ts';
import type { UploadStore } from './upload-store.ts';

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
