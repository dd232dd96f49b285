import type { Command } from 'commander';
import { ConfigError, parseConfig } from '../service/config.ts';
import { handleSignals, npxParent } from '../service/lifecycle.ts';
import { type CliContext, expected } from './context.ts';

const examples = `
Settings come from the environment, and are those of the service: UNDERTONE_REDIS_URL, UNDERTONE_DATABASE_URL,
UNDERTONE_SECRET and UNDERTONE_RECEIPT_KEYS (or the same UNDERTONE_DATA_DIR), UNDERTONE_WORKERS, UNDERTONE_JOB_... Any number of hosts may work.
SIGTERM waits UNDERTONE_SHUTDOWN_S for what is being analysed; then, or at a second signal, it goes back into the queue.

Examples:
  UNDERTONE_REDIS_URL=redis://127.0.0.1 undertone worker`;

export function registerWorker(program: Command, terminal: CliContext): void {
  program
    .command('worker')
    .alias('work')
    .description('take jobs from the queue and analyse them')
    .addHelpText('after', examples)
    .action(() => runWorker(terminal));
}

async function runWorker({ env, stdout, exit }: CliContext): Promise<void> {
  const config = parseConfig(env);
  if (config.redisUrl === null) throw expected('redis://HOST', 'UNDERTONE_REDIS_URL', 'nothing');
  const { loadOrCreateSecret } = await import('../service/auth/secret.ts');
  const { openDatabase } = await import('../service/database.ts');
  const { ensureDir } = await import('../node/files.ts');
  const { createLogger } = await import('../service/log.ts');
  const { startJobWorker } = await import('../service/jobs/worker.ts');
  const { openReceiptKeys } = await import('../service/receipts.ts');
  const { PersistenceError } = await import('../service/redis.ts');
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
    stdout.write(`working with ${config.workers} threads\n`);
  } catch (error) {
    await database.destroy();
    throw error instanceof PersistenceError ? new ConfigError([error.message]) : error;
  }
}
