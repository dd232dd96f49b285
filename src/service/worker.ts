/** Composition root of a worker: database, keys, Redis, threads -> analyses of the queue, until a signal. */
import type { Logger } from 'pino';
import { ensureDir } from '../node/files.ts';
import { loadOrCreateSecret } from './auth/secret.ts';
import { createUsageCounts } from './auth/usage.ts';
import { createWriteFailures } from './background-writes.ts';
import { type Config, ConfigError } from './config.ts';
import { type Database, openDatabase } from './database.ts';
import { keepDeletingExpired } from './expiry.ts';
import { createCipher } from './jobs/cipher.ts';
import { openStoredResults } from './jobs/stored-results.ts';
import { openRedisSource, startJobWorker } from './jobs/worker.ts';
import { createLogger } from './log.ts';
import { openReceiptKeys, type ReceiptKeys } from './receipt-keys.ts';
import { PersistenceError } from './redis.ts';
import { handleSignals, npxParent } from './shutdown.ts';
import { createPool } from './workers/pool.ts';

type Process = { readonly env: NodeJS.ProcessEnv; exit(code: number): void };

/** Resolves when the worker takes jobs. @throws ConfigError for a Redis that persists */
export async function startWorker(
  config: Config & { readonly redisUrl: string },
  { env, exit }: Process,
): Promise<void> {
  const logger = createLogger(config.logLevel);
  ensureDir(config.dataDir);
  const secret = config.secret ?? (await loadOrCreateSecret(config.dataDir));
  const receiptKeys = await openReceiptKeys(config);
  const database = await openDatabase(config.databaseUrl);
  const { redisUrl } = config;
  const started = openJobWorker({ config, redisUrl, secret, receiptKeys, database, logger });
  const { stop, abort } = await started.catch(async (error: unknown) => {
    await database.destroy();
    throw error instanceof PersistenceError ? new ConfigError([error.message]) : error;
  });
  const end = async () => {
    await stop();
    await database.destroy();
  };
  handleSignals({ logger, stop: end, abort, exit, parent: npxParent(env) });
}

/** Loads the models, then takes jobs. @throws PersistenceError */
export async function openJobWorker(options: {
  readonly config: Config;
  readonly redisUrl: string;
  readonly secret: string;
  readonly receiptKeys: ReceiptKeys;
  readonly database: Database;
  readonly logger: Logger;
}) {
  const { config, logger, database } = options;
  const cipher = createCipher(options.secret);
  const source = await openRedisSource(options.redisUrl, cipher, config);
  const pool = createPool({
    workers: config.workers,
    queue: 0,
    settings: { modelsDir: config.modelsDir, limits: config.limits },
    onLost: (cause) => logger.error({ err: cause }, 'worker lost'),
  });
  await pool.started.catch(async (error: unknown) => {
    await source.close();
    throw error;
  });
  const failures = createWriteFailures(logger);
  const usage = createUsageCounts(database, Date.now, failures);
  const results = openStoredResults(database, config.databaseUrl);
  const shared = {
    kind: 'worker',
    source,
    pool,
    concurrency: config.workers,
    cipher,
    usage,
    results,
  } as const;
  const jobs = startJobWorker({ ...options, ...shared });
  const stopDeleting = keepDeletingExpired(database, failures);
  return {
    /** Waits for the threads: exiting inside ONNX Runtime would abort the process. */
    async abort(): Promise<void> {
      await Promise.all([jobs.abort(), pool.close()]);
    },
    async stop(): Promise<void> {
      await jobs.stop();
      await results.close();
      await pool.close();
      await usage
        .flush()
        .catch((error: unknown) => logger.warn({ err: error }, 'cannot write the counts of tokens'));
      await stopDeleting();
    },
  };
}
