/** Recordings in Redis, and the messages of the upload thread that writes them. */

import type { JobSettings } from '../config.ts';
import { type SerializedError, ServiceError } from '../errors.ts';
import { type Form, type RecordingName, recordings } from '../form.ts';
import { type Redis, requireNoPersistence, withoutCommand } from '../redis.ts';
import type { Cipher } from './payload.ts';

// Recordings in Redis: encrypted chunks that expire.

export type UploadStore = {
  /** Appends a chunk. It expires with the upload unless `keep` is called. */
  append(id: string, part: RecordingName, index: number, bytes: Uint8Array): Promise<void>;
  /** Extends the expiry of the upload of a job. Returns false when it has expired or is missing. */
  keep(id: string): Promise<boolean>;
  /** Returns null when the part has expired or is missing. */
  read(id: string, part: RecordingName, size: number): Promise<Uint8Array | null>;
  delete(id: string): Promise<void>;
};

/** Time to create the job of the slowest upload. */
const marginSeconds = 60;

/** Size of a chunk. */
export const chunkBytes = 512 * 1024;

export function createUploadStore(options: {
  readonly redis: Redis;
  readonly cipher: Cipher;
  readonly settings: Pick<JobSettings, 'audioSeconds' | 'uploadSeconds'>;
}): UploadStore {
  const { redis, cipher, settings } = options;
  const uploadSeconds = Math.ceil(settings.uploadSeconds) + marginSeconds;
  const keyOf = (id: string, part: RecordingName) => `undertone:waiting:${id}:${part}`;
  const aadOf = (id: string, part: RecordingName, index: number) => `${id}/${part}/${index}`;
  return {
    async append(id, part, index, bytes) {
      const key = keyOf(id, part);
      const encrypted = cipher.encrypt(bytes, aadOf(id, part, index));
      const replies = await redis.multi().rpush(key, encrypted).expire(key, uploadSeconds).exec();
      for (const [error] of replies ?? []) if (error) throw error;
    },
    async keep(id) {
      const [audio] = await Promise.all(
        recordings.map((part) => redis.expire(keyOf(id, part), settings.audioSeconds)),
      );
      return audio === 1;
    },
    async read(id, part, size) {
      const bytes = new Uint8Array(size);
      let at = 0;
      for (let index = 0; at < size; index++) {
        const [encrypted] = await redis.lrangeBuffer(keyOf(id, part), index, index);
        if (encrypted === undefined) return null;
        const chunk = cipher.decrypt(encrypted, aadOf(id, part, index));
        bytes.set(chunk, at);
        at += chunk.length;
      }
      return bytes;
    },
    async delete(id) {
      await redis.del(recordings.map((part) => keyOf(id, part)));
    },
  };
}

// Access to a Redis that may be unreachable, slow, or replaced by one that persists.

/** Runs commands of Redis. @throws ServiceError `queue_unavailable` */
export type RedisAccess = <T>(work: () => Promise<T>) => Promise<T>;

const timeoutMs = 5000;

/** Checks persistence again after each reconnect, which may reach a different server. */
export function createRedisAccess(redis: Redis): RedisAccess {
  let checked: Promise<void> | null = null;
  redis.on('close', () => {
    checked = null;
  });
  return async (work) => {
    try {
      if (redis.status !== 'ready') throw new Error('not connected');
      checked ??= requireNoPersistence(redis);
      await checked;
      return await withinMs(work(), timeoutMs);
    } catch (cause) {
      checked = null;
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError('queue_unavailable', 'The job queue is unavailable', {
        retryAfterSeconds: 5,
        cause: withoutCommand(cause),
      });
    }
  };
}

function withinMs<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no reply within ${ms} ms`)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

// Messages between the main thread and the upload thread.

/** The `workerData` of the thread. */
export type UploadThreadData = {
  readonly redisUrl: string;
  readonly secret: string;
  readonly settings: Pick<JobSettings, 'audioSeconds' | 'uploadSeconds'>;
};

export type UploadSettings = {
  readonly boundary: string;
  /** False only computes the digest, without writing to Redis. */
  readonly keep: boolean;
  /** Maximum of all recordings together. */
  readonly maxBytes: number;
};

export type UploadCommand = { readonly id: string } & (
  | ({ readonly kind: 'start' } & UploadSettings)
  /** The next bytes of the body, transferred. */
  | { readonly kind: 'block'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'abort' }
);

/** `released`: body bytes whose memory is free again. `done` and `failed` end the upload. */
export type UploadReply = { readonly id: string } & (
  | { readonly kind: 'released'; readonly bytes: number }
  | { readonly kind: 'done'; readonly upload: UploadedForm }
  /** `failure` is null for an internal error. */
  | { readonly kind: 'failed'; readonly failure: SerializedError | null; readonly cause: unknown }
);

export type UploadedForm = Form & {
  /** From `digestRequest`. */
  readonly digest: string;
};
