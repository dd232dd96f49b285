import type { Cipher } from './encryption.ts';
import type { JobStore } from './job-store.ts';
import type { Queues } from './queues.ts';
import type { RedisAccess } from './redis-access.ts';
import type { UploadStore } from './upload-store.ts';

/** Shared by the operations on jobs in the service. */
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
