/** `undertone worker`. */
import type { Command } from 'commander';
import { ConfigError, parseConfig } from '../service/config.ts';
import { type CliContext, expected } from './context.ts';

const workerExamples = `
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
    .addHelpText('after', workerExamples)
    .action(() => runWorker(terminal));
}

async function runWorker(terminal: CliContext): Promise<void> {
  const config = parseConfig(terminal.env);
  const { redisUrl } = config;
  if (redisUrl === null) throw expected('redis://HOST', 'UNDERTONE_REDIS_URL', 'nothing');
  const { startWorker } = await import('../service/worker.ts');
  try {
    await startWorker({ ...config, redisUrl }, terminal);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { describeStartFailure } = await import('../service/start-failures.ts');
    terminal.stderr.write(`${describeStartFailure(error, config)}\n`);
    return terminal.fail();
  }
  terminal.stdout.write(`working with ${config.workers} threads\n`);
}
