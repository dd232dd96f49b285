/** Jobs and their worker in the process of the test, with a Redis and a database of their own. */
import { join } from 'node:path';
import pino from 'pino';
import { defaultOptions } from '../../src/engine/options.ts';
import { parseConfig } from '../../src/service/config.ts';
import { type Database, openDatabase } from '../../src/service/database.ts';
import { type Cipher, createCipher } from '../../src/service/jobs/cipher.ts';
import { createJobStore, type JobOwner } from '../../src/service/jobs/job-store.ts';
import { type Jobs, openJobs } from '../../src/service/jobs/jobs.ts';
import { encryptPayload } from '../../src/service/jobs/payload.ts';
import { openQueues, type RedisQueues } from '../../src/service/jobs/redis-queues.ts';
import type { JobWorker } from '../../src/service/jobs/worker.ts';
import { loadOrCreateKeys } from '../../src/service/receipt-keys.ts';
import { openJobWorker } from '../../src/service/worker.ts';
import { makeFolder } from './folder.ts';
import { type RedisServer, useRedis } from './redis.ts';
import type { Teardown } from './share.ts';

export const secret = 'a secret of the tests, 32 characters or more';

export type JobService = {
  readonly redis: RedisServer;
  readonly database: Database;
  readonly jobs: Jobs;
  readonly cipher: Cipher;
  /** The queues by a connection of their own. */
  readonly queues: RedisQueues;
  /** Lines of the worker's log. */
  readonly log: () => readonly Readonly<Record<string, unknown>>[];
  work(): Promise<JobWorker>;
};

export async function openJobService(
  t: Teardown,
  env: Readonly<Record<string, string>> = {},
  databaseUrl = `file:${join(makeFolder(), 'undertone.db')}`,
): Promise<JobService> {
  const redis = await useRedis(t);
  const config = parseConfig({ UNDERTONE_WORKERS: '1', UNDERTONE_DATABASE_URL: databaseUrl, ...env });
  const database = await openDatabase(databaseUrl);
  const options = { redisUrl: redis.url, database, secret };
  const onUnreachable = () => {
    throw new Error('Expected Redis to be there, got nothing');
  };
  const jobs = await openJobs({ ...options, databaseUrl, settings: config.jobs, onUnreachable });
  const cipher = createCipher(secret);
  const queues = openQueues(redis.client, cipher);
  const lines: Readonly<Record<string, unknown>>[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const started: JobWorker[] = [];
  t.teardown(async () => {
    await Promise.all(started.map((work) => work.abort()));
    await jobs.close();
    await queues.close();
    await database.destroy();
  });
  return {
    redis,
    database,
    jobs,
    cipher,
    queues,
    log: () => lines,
    work: async () => {
      const work = await openJobWorker({
        ...options,
        config,
        logger,
        receiptKeys: await loadOrCreateKeys(join(makeFolder(), 'keys.json')),
      });
      started.push(work);
      return work;
    },
  };
}

/** The request of a job whose recording is fetched. */
export const requestOf = (owner: JobOwner, url: string, callback: string | null = null) => ({
  owner,
  idempotencyKey: null,
  digest: '',
  source: { kind: 'object', url } as const,
  ...defaultOptions,
  callback,
});

/** A job that is done, and whose callback waits. */
export async function addCallback(
  { database, jobs, queues, cipher }: JobService,
  id: string,
  owner: JobOwner,
  url: string,
) {
  const store = createJobStore(database);
  const expiresAt = Date.now() + 1_000_000;
  await store.insert({ id, owner, idempotencyKey: null, digest: '', metadata: null, expiresAt });
  await jobs.results.store(id, Buffer.from('{}'), Date.now(), expiresAt);
  const payload = {
    source: { kind: 'object', url: 'https://bucket.example/a.wav' },
    ...defaultOptions,
    callback: url,
    owner: owner.key,
    installation: await store.installationId(),
    receipt: null,
    usage: null,
    metadata: {},
    cancelledAt: null,
  } as const;
  const entry = {
    id,
    owner: owner.key,
    payload: encryptPayload(payload, id, cipher),
    createdAt: Date.now(),
  };
  await queues.callbacks.add(entry);
}
