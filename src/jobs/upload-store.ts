/** Recordings in Redis: encrypted chunks that expire. */
import { type RecordingName, recordings } from '../multipart/form.ts';
import type { JobSettings } from '../runtime/config.ts';
import type { Redis } from '../runtime/redis.ts';
import type { Cipher } from './encryption.ts';

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
