/** Recordings of waiting jobs in Redis: encrypted chunks that expire. */
import type { JobSettings } from '../config.ts';
import { type RecordingName, recordings } from '../form.ts';
import type { Redis } from '../redis.ts';
import type { Cipher } from './cipher.ts';
import { memoryLimit } from './redis-access.ts';
import { createHolds } from './redis-holds.ts';
import { overJobShare, type UploadStore, uploadExpirySeconds } from './upload-store.ts';

export function createUploadStore(options: {
  readonly redis: Redis;
  readonly cipher: Cipher;
  readonly settings: Pick<JobSettings, 'audioSeconds' | 'resultSeconds' | 'uploadSeconds'>;
}): UploadStore {
  const { redis, cipher, settings } = options;
  const uploadSeconds = uploadExpirySeconds(settings);
  const keyOf = (id: string, part: RecordingName) => `undertone:waiting:${id}:${part}`;
  const payloadOf = (id: string) => `${id}/payload`;
  const holds = createHolds(redis, 'bytes', cipher.fingerprint);
  const aadOf = (id: string, part: RecordingName, index: number) => `${id}/${part}/${index}`;
  return {
    async append({ id, owner, part, index, bytes }) {
      const chunk = cipher.encrypt(bytes, aadOf(id, part, index));
      const hold = { name: id, owner: cipher.pseudonym(owner), amount: chunk.length, seconds: uploadSeconds };
      if (!(await holds.addWithinShare(hold, { key: keyOf(id, part), chunk })))
        throw overJobShare(memoryLimit);
    },
    async reserve(id, owner, bytes) {
      const seconds = settings.audioSeconds + settings.resultSeconds;
      const hold = { name: payloadOf(id), owner: cipher.pseudonym(owner), amount: bytes, seconds };
      if (!(await holds.addWithinShare(hold))) throw overJobShare(memoryLimit);
    },
    async keep(id) {
      const { audioSeconds } = settings;
      const expiries = recordings.map((part) => redis.expire(keyOf(id, part), audioSeconds));
      const [[audio]] = await Promise.all([Promise.all(expiries), holds.extend(id, audioSeconds)]);
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
      await holds.release(id, payloadOf(id));
    },
    countHeld: holds.total,
  };
}
