/** A Redis of the command's own for the length of one piece of work. */
import { type RedisServer, startRedis } from '../support/redis.ts';

export type { RedisServer };

export async function withRedis<Result>(work: (redis: RedisServer) => Promise<Result>): Promise<Result> {
  const redis = await startRedis();
  try {
    return await work(redis);
  } finally {
    redis.client.disconnect();
    await redis.kill();
  }
}
