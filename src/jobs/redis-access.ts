/** Access to a Redis that may be unreachable, slow, or replaced by one that persists. */
import { ServiceError } from '../runtime/errors.ts';
import { type Redis, requireNoPersistence, withoutCommand } from '../runtime/redis.ts';

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
