/** Starts the service: environment, workers, the rest, and exit codes. */
import { type Config, ConfigError, parseConfig } from './config.ts';
import type { openService, Welcome } from './index.ts';
import { npxParent } from './lifecycle.ts';
import { createPool } from './workers/pool.ts';

export type { Welcome };

type Environment = Readonly<Record<string, string | undefined>>;

type ServeOptions = { readonly welcome?: Welcome };

const exitCodes = { failed: 1, misconfigured: 2 } as const;

/** Resolves when the service is ready. A signal or a failed start ends the process. */
export async function serve(env: Environment, { welcome }: ServeOptions = {}): Promise<void> {
  let config: Config | null = null;
  try {
    config = parseConfig(env);
    await start(config, { welcome, parent: npxParent(env) });
  } catch (error) {
    const code = error instanceof ConfigError ? exitCodes.misconfigured : exitCodes.failed;
    const { describeStartFailure } = await import('./start-failures.ts');
    process.stderr.write(`${describeStartFailure(error, config)}\n`);
    process.exit(code);
  }
}

/** The workers load the models while this thread loads the rest of its code, which takes as long. */
async function start(
  config: Config,
  own: Pick<Parameters<typeof openService>[0], 'welcome' | 'parent'>,
): Promise<void> {
  const logger = import('./log.ts').then(({ createLogger }) => createLogger(config.logLevel));
  const pool = createPool({
    workers: config.workers,
    queue: config.queue,
    settings: { modelsDir: config.modelsDir, limits: config.limits },
    onLost: (cause) => void logger.then((own) => own.error({ err: cause }, 'worker lost')),
  });
  // `openService` reports invalid models.
  const loaded = Promise.allSettled([pool.started]);
  try {
    const service = await import('./index.ts');
    const exit = (code: number) => process.exit(code);
    await service.openService({ ...own, config, logger: await logger, pool, exit });
  } catch (error) {
    // Exiting while a thread is inside ONNX Runtime would abort the process.
    await loaded;
    throw error;
  }
}
