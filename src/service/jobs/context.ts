/** What the operations on jobs share: database, queues and recordings, in Redis or in the memory of this process. */

import type { JobSettings } from '../config.ts';
import type { Database } from '../database.ts';
import type { Redis } from '../redis.ts';
import { type Cipher, createCipher } from './cipher.ts';
import { createJobStore, type JobStore } from './job-store.ts';
import { createMemoryQueues } from './memory-queues.ts';
import { createMemoryUploads } from './memory-uploads.ts';
import type { Queues } from './queues.ts';
import type { RedisAccess } from './redis-access.ts';
import type { UploadStore } from './upload-store.ts';

export type JobsContext = {
  readonly store: JobStore;
  readonly queues: Queues;
  readonly cipher: Cipher;
  readonly withRedis: RedisAccess;
  /** Uses `withRedis`. */
  readonly uploadStore: UploadStore;
  /** Expiry of a job that is created or lost now, ms since 1970. */
  expiresAt(): number;
};

export type ContextOptions = {
  /** Null keeps queues and recordings in the memory of this process. */
  readonly redisUrl: string | null;
  readonly database: Database;
  readonly secret: string;
  readonly settings: JobSettings;
  /** Called when Redis cannot be reached at the start. */
  readonly onUnreachable: () => void;
};

export async function openContext({ redisUrl, onUnreachable, database, secret, settings }: ContextOptions) {
  const cipher = createCipher(secret);
  const shared = {
    store: createJobStore(database),
    cipher,
    expiresAt: () => Date.now() + 1000 * (settings.audioSeconds + settings.resultSeconds),
  };
  if (redisUrl === null) {
    const queues = createMemoryQueues();
    const uploadStore = createMemoryUploads(settings);
    const context: JobsContext = { ...shared, queues, uploadStore, withRedis: (work) => work() };
    return { context, close: queues.close };
  }
  const redis = await connect(redisUrl, onUnreachable);
  const { openQueues } = await import('./redis-queues.ts');
  const { createRedisAccess } = await import('./redis-access.ts');
  const { createUploadStore } = await import('./redis-uploads.ts');
  const withRedis = createRedisAccess(redis);
  if (redis.status === 'ready') await requireSharedSecret(redis, shared);
  const queues = openQueues(redis, cipher);
  const uploadStore = guardUploadStore(createUploadStore({ redis, cipher, settings }), withRedis);
  const close = async () => {
    await queues.close();
    redis.disconnect();
  };
  return { context: { ...shared, queues, uploadStore, withRedis } satisfies JobsContext, close };
}

async function requireSharedSecret(
  redis: Redis,
  { store, cipher }: Pick<JobsContext, 'store' | 'cipher'>,
): Promise<void> {
  const { announceSecret } = await import('./shared-secret.ts');
  try {
    await announceSecret(redis, await store.installationId(), cipher.fingerprint);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

async function connect(redisUrl: string, onUnreachable: () => void): Promise<Redis> {
  const { openRedis, requireNoPersistence, waitForRedis } = await import('../redis.ts');
  const redis = openRedis(redisUrl);
  try {
    if (await waitForRedis(redis)) await requireNoPersistence(redis);
    else onUnreachable();
    return redis;
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

function guardUploadStore(store: UploadStore, withRedis: RedisAccess): UploadStore {
  return {
    append: (chunk) => withRedis(() => store.append(chunk)),
    reserve: (...payload) => withRedis(() => store.reserve(...payload)),
    keep: (id) => withRedis(() => store.keep(id)),
    read: (...part) => withRedis(() => store.read(...part)),
    delete: (id) => withRedis(() => store.delete(id)),
    countHeld: () => withRedis(store.countHeld),
  };
}
