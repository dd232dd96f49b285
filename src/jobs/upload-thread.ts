/**
 * Entry file of the upload thread: parses the forms of job uploads, encrypts the recordings and writes them to Redis, so
 * that the main thread only passes on blocks. Uploads alternate block by block.
 */
import { once } from 'node:events';
import { type MessagePort, workerData } from 'node:worker_threads';
import { ServiceError, serializeError } from '../runtime/errors.ts';
import { openRedis, waitForRedis } from '../runtime/redis.ts';
import { createCipher } from './encryption.ts';
import { createRedisAccess } from './redis-access.ts';
import type { UploadCommand, UploadReply, UploadThreadData } from './upload-messages.ts';
import { createUploadReader, type UploadReader } from './upload-reader.ts';
import { createUploadStore } from './upload-store.ts';

type Upload = {
  readonly id: string;
  readonly reader: UploadReader;
  readonly keep: boolean;
  /** Commands run in sequence. */
  work: Promise<void>;
  over: boolean;
};

/** @param port receives UploadCommand and sends UploadReply */
export async function run(port: MessagePort): Promise<void> {
  const { redisUrl, secret, settings } = workerData as UploadThreadData;
  const redis = openRedis(redisUrl);
  const connected = waitForRedis(redis);
  const withRedis = createRedisAccess(redis);
  const cipher = createCipher(secret);
  const store = createUploadStore({ redis, cipher, settings });
  const uploads = new Map<string, Upload>();

  function receive(command: UploadCommand): void {
    const { id } = command;
    if (command.kind === 'start') {
      const reader = createUploadReader(command.boundary, command.maxBytes, cipher);
      const { keep } = command;
      uploads.set(id, { id, reader, keep, work: connected.then(() => {}), over: false });
      return;
    }
    const upload = uploads.get(id);
    if (upload === undefined) return;
    if (command.kind === 'abort') {
      finish(upload);
      void upload.work.then(() => remove(upload));
      return;
    }
    upload.work = upload.work.then(() => execute(upload, command)).catch((error) => fail(upload, error));
  }

  async function execute(upload: Upload, command: UploadCommand & { kind: 'block' | 'end' }): Promise<void> {
    if (upload.over) return;
    const { id, reader } = upload;
    if (command.kind === 'block') reader.write(command.bytes);
    const form = command.kind === 'end' ? reader.end() : null;
    for (const { name, index, bytes } of reader.drainChunks()) {
      if (upload.keep) await withRedis(() => store.append(id, name, index, bytes));
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
    await remove(upload);
    if (error instanceof ServiceError)
      reply({ id, kind: 'failed', failure: serializeError(error), cause: error.cause });
    else reply({ id, kind: 'failed', failure: null, cause: error });
  }

  function finish(upload: Upload): void {
    upload.over = true;
    uploads.delete(upload.id);
  }

  /** Chunks that cannot be deleted expire. */
  async function remove({ id, keep }: Upload): Promise<void> {
    if (keep) await withRedis(() => store.delete(id)).catch(() => {});
  }

  function reply(message: UploadReply): void {
    port.postMessage(message);
  }

  port.on('message', receive);
  await once(port, 'close');
}
