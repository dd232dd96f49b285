/** The processes that take jobs: each writes the time of Redis into a sorted set, and counts for `expirySeconds` after that. */

import { randomUUID } from 'node:crypto';
import type { Redis } from '../redis.ts';
import type { Cipher } from './cipher.ts';
import type { Queues, WorkerKind } from './queues.ts';

export const beatMs = 2000;
export const expirySeconds = 10;
/** A count serves all jobs of a request. */
const maxCountAgeMs = 500;

const registryScripts = {
  beat: `local now = tonumber(redis.call('TIME')[1])
    redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${expirySeconds})
    return redis.call('ZADD', KEYS[1], now, ARGV[1])`,
  count: `return redis.call('ZCOUNT', KEYS[1], tonumber(redis.call('TIME')[1]) - ${expirySeconds}, '+inf')`,
} as const;

export function createRegistry(
  redis: Redis,
  { fingerprint }: Cipher,
): Pick<Queues, 'register' | 'countWorkers'> {
  const keyOf = (kind: WorkerKind) => `undertone:${kind}s:${fingerprint}`;
  const counts = new Map<WorkerKind, { readonly at: number; readonly count: Promise<number> }>();
  return {
    register(kind) {
      const [key, id] = [keyOf(kind), randomUUID()];
      const beat = () => {
        // One that fails is followed by others.
        if (redis.status === 'ready') void redis.eval(registryScripts.beat, 1, key, id).catch(() => {});
      };
      redis.on('ready', beat);
      beat();
      const timer = setInterval(beat, beatMs);
      return async () => {
        clearInterval(timer);
        redis.off('ready', beat);
        await redis.zrem(key, id).catch(() => {});
      };
    },
    async countWorkers(kind) {
      const last = counts.get(kind);
      if (last !== undefined && performance.now() - last.at < maxCountAgeMs) return last.count;
      const count = redis.eval(registryScripts.count, 1, keyOf(kind)).then(Number);
      counts.set(kind, { at: performance.now(), count });
      count.catch(() => counts.delete(kind));
      return count;
    },
  };
}
