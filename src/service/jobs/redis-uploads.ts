/** Recordings of waiting jobs in Redis, which may be unreachable, slow, or replaced by one that persists. */
import type { JobSettings } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { type RecordingName, recordings } from '../form.ts';
import { type Redis, requireNoPersistence, withoutCommand } from '../redis.ts';
import type { Cipher } from './payload.ts';
import { createHolds } from './redis-holds.ts';
import { overJobShare, type UploadStore, uploadExpirySeconds } from './upload-store.ts';

// Encrypted chunks in Redis that expire.

/** Of the share of an owner. */
const limit = 'maxmemory of the Redis of UNDERTONE_REDIS_URL';
/** Of Redis itself, when other data fills it. */
const isFull = (cause: unknown) => cause instanceof Error && /\bOOM\b/.test(cause.message);

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
      if (!(await holds.addWithinShare(hold, { key: keyOf(id, part), chunk }))) throw overJobShare(limit);
    },
    async reserve(id, owner, bytes) {
      const seconds = settings.audioSeconds + settings.resultSeconds;
      const hold = { name: payloadOf(id), owner: cipher.pseudonym(owner), amount: bytes, seconds };
      if (!(await holds.addWithinShare(hold))) throw overJobShare(limit);
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
      if (isFull(cause)) throw overJobShare(limit);
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
