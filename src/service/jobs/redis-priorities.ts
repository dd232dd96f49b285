/**
 * BullMQ priorities by start-time fair queueing (Goyal, Vin and Cheng 1996). The priority of a job is its start tag: one more
 * than the last tag of its owner or than the tag of the job in service, whichever is larger. Owners with many jobs alternate,
 * and the first job of another owner does not wait behind them.
 */
import type { Redis } from '../redis.ts';

/** BullMQ's largest priority. */
export const maxPriority = 2 ** 21 - 1;
/** Priorities are rebased above this tag, so half of the range is left for waiting jobs. */
const rebaseAt = 2 ** 20;

const served = `local served = tonumber(redis.call('GET', KEYS[2]) or '0')`;

const scripts = {
  next: `${served}
    redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', served)
    local last = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or served)
    redis.call('ZADD', KEYS[1], last + 1, ARGV[1])
    return last + 1`,
  advance: `${served}
    served = math.max(served, tonumber(ARGV[1]))
    local shift = served < ${rebaseAt} and 0 or served
    if shift > 0 then
      for _, owner in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
        redis.call('ZINCRBY', KEYS[1], -shift, owner)
      end
    end
    redis.call('SET', KEYS[2], served - shift)
    return shift`,
  remove: `${served}
    local last = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or served)
    if last > served then redis.call('ZADD', KEYS[1], last - 1, ARGV[1]) end
    return 0`,
  countWaiting: `${served}
    return math.max(0, tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or served) - served)`,
} as const;

export type FairPriority = ReturnType<typeof createFairPriority>;

/** @param name of the queue */
export function createFairPriority(redis: Redis, name: string) {
  const keys = [`undertone:turns:${name}`, `undertone:served:${name}`] as const;
  const run = async (script: keyof typeof scripts, argument: string | number) =>
    Number(await redis.eval(scripts[script], keys.length, ...keys, argument));
  return {
    /** Assigns the priority of the owner's next job. */
    next: async (owner: string) => Math.min(maxPriority, await run('next', owner)),
    /**
     * Called when a worker starts a job. Returns the amount to subtract from the priorities of waiting jobs, which is
     * positive only when priorities approach the maximum.
     */
    advance: (priority: number) => run('advance', priority),
    /** Called when a waiting job of the owner is removed. */
    remove: async (owner: string) => void (await run('remove', owner)),
    /** Counts waiting jobs of the owner. Removed jobs may count until their tag is served. */
    countWaiting: (owner: string) => run('countWaiting', owner),
  };
}
