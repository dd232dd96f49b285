/** Composition root of a worker: database, keys, Redis -> analyses of the queue, until a signal. */
import { ensureDir } from '../node/files.ts';
import { loadOrCreateSecret } from './auth/secret.ts';
import { type Config, ConfigError } from './config.ts';
import { openDatabase } from './database.ts';
import { startJobWorker } from './jobs/worker.ts';
import { handleSignals, npxParent } from './lifecycle.ts';
import { createLogger } from './log.ts';
import { openReceiptKeys } from './receipts.ts';
import { PersistenceError } from './redis.ts';

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
  try {
    const { redisUrl } = config;
    const started = await startJobWorker({ config, redisUrl, database, secret, receiptKeys, logger });
    const stop = async () => {
      await started.stop();
      await database.destroy();
    };
    handleSignals({ logger, stop, abort: started.abort, exit, parent: npxParent(env) });
  } catch (error) {
    await database.destroy();
    throw error instanceof PersistenceError ? new ConfigError([error.message]) : error;
  }
}
