/** Connections to Redis: the only file that knows its client. Loaded when an address is configured. */
import { Redis, type RedisOptions } from 'ioredis';

type Options = Omit<RedisOptions, 'replyMapping'>;

export type { Redis } from 'ioredis';

/** Redis keeps what it must not. */
export class PersistenceError extends Error {}

const connectMs = 5000;
const answerMs = 3000;
const maxRetryDelayMs = 2000;

const retryDelayMs = (attempt: number) => Math.min(maxRetryDelayMs, 50 * 2 ** attempt);

/** For requests: a command fails at once while Redis is away. One that does not answer is away, until it answers anew. */
export function openRedis(url: string): Redis {
  return open(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: answerMs,
    socketTimeout: answerMs,
  });
}

/** For workers, which wait for Redis as long as it takes. */
export function openWorkerRedis(url: string): Redis {
  return open(url, { maxRetriesPerRequest: null });
}

function open(url: string, options: Options): Redis {
  const redis = new Redis(url, { connectTimeout: connectMs, retryStrategy: retryDelayMs, ...options });
  // Each command says for itself that it failed; without a listener the client writes to the console.
  redis.on('error', () => {});
  return redis;
}

/** The client's errors carry the command and all that it was given: pieces of recordings, sealed, would be logged. */
export function withoutCommand(error: unknown): unknown {
  if (!(error instanceof Error) || !('command' in error)) return error;
  return Object.assign(new Error(error.message), { stack: error.stack });
}

/** Resolves when it is connected, or after some seconds without. */
export async function waitForRedis(redis: Redis): Promise<boolean> {
  if (redis.status === 'ready') return true;
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(false), connectMs);
    const ready = () => end(true);
    function end(connected: boolean): void {
      clearTimeout(timer);
      redis.off('ready', ready);
      resolve(connected);
    }
    redis.once('ready', ready);
  });
}

/** @throws PersistenceError when Redis writes to a disk, or does not tell */
export async function requireNoPersistence(redis: Redis): Promise<void> {
  const read = async (name: string) => ((await redis.config('GET', name)) as string[])[1] ?? 'nothing';
  const settings = await Promise.all([read('save'), read('appendonly')]).catch((error: Error) => {
    if (!/NOPERM|unknown command/i.test(error.message)) throw error;
    throw new PersistenceError(
      `Expected a Redis at \`UNDERTONE_REDIS_URL\` that tells its settings, got: ${error.message}`,
    );
  });
  const [save, appendOnly] = settings;
  if (save === '' && appendOnly === 'no') return;
  throw new PersistenceError(
    `Expected a Redis without persistence at \`UNDERTONE_REDIS_URL\` (save "" and appendonly no), got save "${save}" and appendonly ${appendOnly}`,
  );
}
