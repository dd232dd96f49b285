/** Counts in Redis, for every host together; while Redis is away each process counts for itself. */
import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { Redis } from '../redis.ts';
import { type CounterStore, inMemory } from './counters.ts';

/** `onChange` hears when Redis is lost, or not there at the start, and when it is back. */
export function createSharedCounters(redis: Redis, onChange: (there: boolean) => void): CounterStore {
  let there = true;
  const tell = (now: boolean) => {
    if (there !== now) onChange(now);
    there = now;
  };
  redis.on('ready', () => tell(true));
  redis.on('close', () => tell(false));
  return (name, { requests, seconds }) =>
    new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: `undertone:${name}`,
      points: requests,
      duration: seconds,
      rejectIfRedisNotReady: true,
      insuranceLimiter: inMemory(name, { requests, seconds }),
    });
}
