/** Access to Redis, which may be unreachable, slow, or replaced by one that persists. */

import { ServiceError } from '../errors.ts';
import { type Redis, requireNoPersistence, withoutCommand } from '../redis.ts';
import { overJobShare } from './upload-store.ts';

/** Of the share of an owner. */
export const memoryLimit = 'maxmemory of the Redis of UNDERTONE_REDIS_URL';
/** Of Redis itself, when other data fills it. */
const isFull = (cause: unknown) => cause instanceof Error && /\bOOM\b/.test(cause.message);

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
      if (isFull(cause)) throw overJobShare(memoryLimit);
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
