/**
 * The order of owners in a queue: start-time fair queueing (Goyal, Vin and Cheng 1996). A job's turn is one after the
 * last turn of its owner, or one after the turn that is being served where that is later. So owners with many jobs take
 * turns, and the first job of another owner is not behind them. Turns are BullMQ priorities.
 */
import type { Redis } from '../runtime/redis.ts';

export type FairPriority = {
  /** The turn of the owner's next job. */
  next(owner: string): Promise<number>;
  /**
   * A worker has begun a job of that turn. Returns what has been subtracted from every turn: 0, but before turns are
   * used up, when they begin anew.
   */
  advance(turn: number): Promise<number>;
  /** A job of the owner that was waiting has been removed. */
  remove(owner: string): Promise<void>;
  /** Jobs of the owner that wait; at most some more than there are, until their turn has passed. */
  countWaiting(owner: string): Promise<number>;
};

/** BullMQ's largest priority. */
export const maxPriority = 2 ** 21 - 1;
/** Turns begin anew from here on, which leaves half of them to those that wait. */
const rebaseAt = 2 ** 20;

const served = `local served = tonumber(redis.call('GET', KEYS[2]) or '0')`;

const scripts = {
  next: `${served}
    redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', served)
    local last = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or served)
    redis.call('ZADD', KEYS[1], last + 1, ARGV[1])
    return last + 1`,
  serve: `${served}
    served = math.max(served, tonumber(ARGV[1]))
    local shift = served < ${rebaseAt} and 0 or served
    if shift > 0 then
      for _, owner in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
        redis.call('ZINCRBY', KEYS[1], -shift, owner)
      end
    end
    redis.call('SET', KEYS[2], served - shift)
    return shift`,
  leave: `${served}
    local last = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or served)
    if last > served then redis.call('ZADD', KEYS[1], last - 1, ARGV[1]) end
    return 0`,
  waiting: `${served}
    return math.max(0, tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or served) - served)`,
} as const;

/** @param name of the queue */
export function createFairPriority(redis: Redis, name: string): FairPriority {
  const keys = [`undertone:turns:${name}`, `undertone:served:${name}`] as const;
  const run = async (script: keyof typeof scripts, argument: string | number) =>
    Number(await redis.eval(scripts[script], keys.length, ...keys, argument));
  return {
    next: async (owner) => Math.min(maxPriority, await run('next', owner)),
    advance: (turn) => run('serve', turn),
    remove: async (owner) => void (await run('leave', owner)),
    countWaiting: (owner) => run('waiting', owner),
  };
}
