/**
 * Services with one database and Redis have one secret: with another, a service does not find the jobs of the others, and would
 * record them as lost. Each writes the time of Redis at the fingerprint of its secret, which counts for `expirySeconds`.
 */
import { ConfigError } from '../config.ts';
import type { Redis } from '../redis.ts';
import { beatMs, expirySeconds } from './redis-registry.ts';

/** Returns how many other secrets are in use. The fingerprint is written when there are none. */
const script = `local now = tonumber(redis.call('TIME')[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${expirySeconds})
  local others = redis.call('ZCARD', KEYS[1])
  if redis.call('ZSCORE', KEYS[1], ARGV[1]) then others = others - 1 end
  if others == 0 then
    redis.call('ZADD', KEYS[1], now, ARGV[1])
    redis.call('EXPIRE', KEYS[1], ${expirySeconds})
  end
  return others`;

/**
 * Once at the start, then for the life of the connection.
 * @param installation of the database
 * @throws ConfigError when a service with another secret runs
 */
export async function announceSecret(redis: Redis, installation: string, fingerprint: string): Promise<void> {
  const beat = () => redis.eval(script, 1, `undertone:secrets:${installation}`, fingerprint);
  if (Number(await beat()) > 0) {
    throw new ConfigError([
      `Expected the \`UNDERTONE_SECRET\` of the other services with this database and Redis, got another: set the same everywhere. To change it, stop all of them, and wait ${expirySeconds} s`,
    ]);
  }
  // One that fails is followed by others.
  const timer = setInterval(() => void beat().catch(() => {}), beatMs).unref();
  redis.once('end', () => clearInterval(timer));
}
