/** Recordings that wait for a worker: sealed pieces in Redis, gone by themselves when nobody comes. */

import { type RecordingName, recordings } from '../multipart/form.ts';
import type { JobSettings } from '../runtime/config.ts';
import type { Redis } from '../runtime/redis.ts';
import type { Cipher } from './encryption.ts';

export type UploadStore = {
  /** The next piece of a part. Its number is part of what it is sealed with. What is not kept is gone soon. */
  append(id: string, part: RecordingName, index: number, bytes: Uint8Array): Promise<void>;
  /** From now on it waits for a worker. False when it is gone, or never came. */
  keep(id: string): Promise<boolean>;
  /** Null when it is gone. */
  read(id: string, part: RecordingName, size: number): Promise<Uint8Array | null>;
  delete(id: string): Promise<void>;
};

/** For a job to be made of an upload that took as long as it may. */
const marginSeconds = 60;

/** Of one piece. */
export const chunkBytes = 512 * 1024;

export function createUploadStore(options: {
  readonly redis: Redis;
  readonly cipher: Cipher;
  readonly settings: Pick<JobSettings, 'audioSeconds' | 'uploadSeconds'>;
}): UploadStore {
  const { redis, cipher, settings } = options;
  const uploadSeconds = Math.ceil(settings.uploadSeconds) + marginSeconds;
  const keyOf = (id: string, part: RecordingName) => `undertone:waiting:${id}:${part}`;
  const placeOf = (id: string, part: RecordingName, index: number) => `${id}/${part}/${index}`;
  return {
    async append(id, part, index, bytes) {
      const key = keyOf(id, part);
      const sealed = cipher.encrypt(bytes, placeOf(id, part, index));
      const replies = await redis.multi().rpush(key, sealed).expire(key, uploadSeconds).exec();
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
        const [sealed] = await redis.lrangeBuffer(keyOf(id, part), index, index);
        if (sealed === undefined) return null;
        const piece = cipher.decrypt(sealed, placeOf(id, part, index));
        bytes.set(piece, at);
        at += piece.length;
      }
      return bytes;
    },
    async delete(id) {
      await redis.del(recordings.map((part) => keyOf(id, part)));
    },
  };
}
