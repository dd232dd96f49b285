/** Connections to Redis by ioredis. The main thread loads it only with UNDERTONE_REDIS_URL. */
import { Redis, type RedisOptions } from 'ioredis';

type Options = Omit<RedisOptions, 'replyMapping'>;

export type { Redis } from 'ioredis';

/** Redis persists data. */
export class PersistenceError extends Error {
  override readonly name = 'PersistenceError';
}

const connectMs = 5000;
const timeoutMs = 3000;
const maxRetryDelayMs = 2000;

const retryDelayMs = (attempt: number) => Math.min(maxRetryDelayMs, 50 * 2 ** attempt);

/** For requests: commands fail at once while Redis is unreachable. A server that times out counts as unreachable. */
export function openRedis(url: string): Redis {
  return open(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  });
}

/** For workers, which retry until Redis is reachable. */
export function openWorkerRedis(url: string): Redis {
  return open(url, { maxRetriesPerRequest: null });
}

function open(url: string, options: Options): Redis {
  const redis = new Redis(url, { connectTimeout: connectMs, retryStrategy: retryDelayMs, ...options });
  // Each command reports its own error; without a listener ioredis writes to the console.
  redis.on('error', () => {});
  return redis;
}

/** Errors of ioredis contain the arguments of the command, which would put encrypted chunks into the log. */
export function withoutCommand(error: unknown): unknown {
  if (!(error instanceof Error) || !('command' in error)) return error;
  return Object.assign(new Error(error.message), { stack: error.stack });
}

/** Resolves with true once connected, with false after `connectMs`. */
export async function waitForRedis(redis: Redis): Promise<boolean> {
  if (redis.status === 'ready') return true;
  return new Promise((resolve) => {
    const timer = setTimeout(() => settle(false), connectMs);
    const onReady = () => settle(true);
    function settle(connected: boolean): void {
      clearTimeout(timer);
      redis.off('ready', onReady);
      resolve(connected);
    }
    redis.once('ready', onReady);
  });
}

/** @throws PersistenceError when Redis persists data or refuses CONFIG GET */
export async function requireNoPersistence(redis: Redis): Promise<void> {
  const read = async (name: string) => ((await redis.config('GET', name)) as string[])[1] ?? 'nothing';
  const settings = await Promise.all([read('save'), read('appendonly')]).catch((error: Error) => {
    if (!/NOPERM|unknown command/i.test(error.message)) throw error;
    throw new PersistenceError(
      `Expected a Redis at \`UNDERTONE_REDIS_URL\` that permits CONFIG GET, got: ${error.message}`,
    );
  });
  const [save, appendOnly] = settings;
  if (save === '' && appendOnly === 'no') return;
  throw new PersistenceError(
    `Expected a Redis without persistence at \`UNDERTONE_REDIS_URL\` (save "" and appendonly no), got save "${save}" and appendonly ${appendOnly}`,
  );
}
