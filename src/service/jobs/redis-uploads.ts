/** Recordings of waiting jobs in Redis, which may be unreachable, slow, or replaced by one that persists. */
import type { JobSettings } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { type RecordingName, recordings } from '../form.ts';
import { type Redis, requireNoPersistence, withoutCommand } from '../redis.ts';
import type { Cipher } from './payload.ts';
import { type UploadStore, uploadExpirySeconds } from './upload-store.ts';

// Encrypted chunks in Redis that expire.

export function createUploadStore(options: {
  readonly redis: Redis;
  readonly cipher: Cipher;
  readonly settings: Pick<JobSettings, 'audioSeconds' | 'uploadSeconds'>;
}): UploadStore {
  const { redis, cipher, settings } = options;
  const uploadSeconds = uploadExpirySeconds(settings);
  const keyOf = (id: string, part: RecordingName) => `undertone:waiting:${id}:${part}`;
  const aadOf = (id: string, part: RecordingName, index: number) => `${id}/${part}/${index}`;
  return {
    // Its maxmemory bounds all owners together.
    open: () => {},
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
