/** Starts the service: environment, workers, the rest, and exit codes. */
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { ensureDir } from '../node/files.ts';
import { type Config, ConfigError, parseConfig } from './config.ts';
import type { openService, Welcome } from './index.ts';
import { npxParent } from './shutdown.ts';
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

/** Since Node.js 22. */
type CompileCache = { enableCompileCache?(folder: string): unknown; flushCompileCache?(): void };

const { enableCompileCache, flushCompileCache } = nodeModule as typeof nodeModule & CompileCache;

/** The next start reads compiled code from the data folder. The workers do so as well: they inherit the environment. */
function keepCompiledCode(dataDir: string): void {
  if (enableCompileCache === undefined) return;
  process.env.NODE_COMPILE_CACHE ??= join(dataDir, 'compiled');
  enableCompileCache(process.env.NODE_COMPILE_CACHE);
}

/** The workers load the models while this thread loads the rest of its code, which takes as long. */
async function start(
  config: Config,
  front: Pick<Parameters<typeof openService>[0], 'welcome' | 'parent'>,
): Promise<void> {
  ensureDir(config.dataDir);
  keepCompiledCode(config.dataDir);
  const logger = import('./log.ts').then(({ createLogger }) => createLogger(config.logLevel));
  const pool = createPool({
    workers: config.workers,
    queue: config.queue,
    settings: {
      modelsDir: config.modelsDir,
      comparedModelsDir: config.comparedModelsDir,
      limits: config.limits,
    },
    onLost: (cause) => void logger.then((started) => started.error({ err: cause }, 'worker lost')),
  });
  try {
    const service = await import('./index.ts');
    const exit = (code: number) => process.exit(code);
    await service.openService({ ...front, config, logger: await logger, pool, exit });
    flushCompileCache?.();
  } catch (error) {
    // Exiting while a thread is inside ONNX Runtime would abort the process.
    await pool.close();
    throw error;
  }
}
