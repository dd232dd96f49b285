/** Access to a Redis that may be unreachable, slow, or replaced by one that persists. */
import { ServiceError } from '../runtime/errors.ts';
import { type Redis, requireNoPersistence, withoutCommand } from '../runtime/redis.ts';

/** @throws Failure `queue_unavailable` when Redis cannot be used */
export type RedisAccess = <T>(work: () => Promise<T>) => Promise<T>;

const answerMs = 5000;

/** A Redis that came back may be another one: it is asked again whether it persists. */
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
      return await withinMs(work(), answerMs);
    } catch (cause) {
      checked = null;
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError('queue_unavailable', 'The queue of jobs cannot be used', {
        retryAfterSeconds: 5,
        cause: withoutCommand(cause),
      });
    }
  };
}

function withinMs<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
