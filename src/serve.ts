/** Environment -> config -> models -> app -> listen; signals and exit codes. */
import { fileURLToPath } from 'node:url';
import pino, { type Logger } from 'pino';
import { type AccountOptions, type Accounts, createAccounts } from './auth/accounts.ts';
import type { RateLimiterFactory } from './auth/rate-limiter.ts';
import { loadOrCreateSecret } from './auth/secret.ts';
import { createTokens, type Tokens } from './auth/tokens.ts';
import { type Database, databaseKind, openDatabase } from './db/database.ts';
import { createApp, createMetricsApp } from './http/app.ts';
import { createLifecycle, type Lifecycle } from './http/lifecycle.ts';
import { createMetrics } from './http/middleware/metrics.ts';
import { readPages } from './http/routes/static.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import type { Jobs } from './jobs/jobs.ts';
import { ModelError, readManifests } from './models/loader.ts';
import { type Config, ConfigError, parseConfig } from './runtime/config.ts';
import { ensureDir } from './runtime/ensure-dir.ts';
import { ServiceError } from './runtime/errors.ts';
import { handleSignals } from './runtime/shutdown.ts';
import { createPool, type Pool } from './workers/pool.ts';

export type ServeOptions = {
  /** Called once, when the service is ready: may greet whoever started it. */
  readonly welcome?: (service: {
    readonly url: string;
    readonly config: Config;
    readonly tokens: Tokens;
  }) => Promise<void>;
};

/** Beside the compiled sources. */
const pagesFolder = fileURLToPath(new URL('../web', import.meta.url));
const exitCodes = { failed: 1, misconfigured: 2 } as const;
/** Answers to requests that are cut off need a moment to leave. */
const abortFlushMs = 300;

type Service = {
  readonly config: Config;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly pool: Pool;
  readonly servers: readonly HttpServer[];
  readonly tokens: Tokens;
};

/** Resolves when the service is ready; the process ends by itself, on a signal or when the start fails. */
export async function serve(env: Environment, { welcome }: ServeOptions = {}): Promise<void> {
  try {
    await start(parseConfig(env), env, welcome);
  } catch (error) {
    const code = error instanceof ConfigError ? exitCodes.misconfigured : exitCodes.failed;
    process.stderr.write(`${describeError(error)}\n`);
    process.exit(code);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

async function start(config: Config, env: Environment, welcome: ServeOptions['welcome']): Promise<void> {
  const destination = pino.destination({ dest: 2, sync: true });
  const logger = pino({ level: config.logLevel, base: null }, destination);
  const lifecycle = createLifecycle();
  const metrics = createMetrics();
  const pool = createPool({
    workers: config.workers,
    queue: config.queue,
    settings: { modelsDir: config.modelsDir, limits: config.limits },
    processes: config.isolation === 'process' ? { env } : null,
    onLost: (cause) => logger.error({ err: cause }, 'worker lost'),
  });
  // The threads load the models while this one does the rest; models that are wrong are told below, by what is read here.
  const loaded = Promise.allSettled([pool.started]);
  try {
    await open({ config, welcome, logger, lifecycle, metrics, pool });
  } catch (error) {
    // Ending the process while a thread is inside the runtime would abort it.
    await loaded;
    throw error;
  }
}

type StartContext = Pick<Service, 'config' | 'logger' | 'lifecycle' | 'pool'> & {
  readonly welcome: ServeOptions['welcome'];
  readonly metrics: ReturnType<typeof createMetrics>;
};

/** Everything but the threads; then waits for them. */
async function open({ config, welcome, logger, lifecycle, metrics, pool }: StartContext): Promise<void> {
  const manifests = await readManifests(config.modelsDir);
  ensureDir(config.dataDir);
  const database = await openDatabase(config.databaseUrl);
  const tokens = createTokens({ database, staticToken: config.token });
  const secret = config.secret ?? (await loadOrCreateSecret(config.dataDir));
  const rateLimiters = await openCounters(config, secret, logger);
  const accounts = openAccounts({ config, database, tokens, secret, rateLimiters });
  const jobs = await openJobQueue(config, database, secret, logger);
  const pages = await readPages(pagesFolder);
  const collaborators = { config, pool, tokens, accounts, metrics, logger, manifests, lifecycle, pages };
  const app = createApp({ ...collaborators, rateLimiters, ...(jobs === null ? {} : { jobs }) });
  const seconds = config.deadlineSeconds;
  const main = createHttpServer(app.callback(), {
    seconds,
    ...(jobs === null ? {} : { jobSeconds: config.jobs.uploadSeconds }),
  });
  const servers = [main];
  const url = await main.listen(config);
  if (config.metricsAddress !== null) {
    const aside = createHttpServer(createMetricsApp(metrics, logger).callback(), { seconds });
    servers.push(aside);
    logger.info({ url: await aside.listen(config.metricsAddress) }, 'metrics');
  }
  const service: Service = { config, logger, lifecycle, pool, servers, tokens };
  handleSignals({
    logger,
    stop: () => stop(service),
    abort: () => abort(service),
    exit: (code) => process.exit(code),
  });
  await pool.started;
  process.stdout.write(`listening on ${url}\n`);
  await welcome?.({ url, config, tokens });
}

/** Loaded where Redis is configured. */
async function openJobQueue(
  { redisUrl, jobs: settings }: Config,
  database: Database,
  secret: string,
  logger: Logger,
): Promise<Jobs | null> {
  if (redisUrl === null) return null;
  const { openJobs } = await import('./jobs/jobs.ts');
  const { PersistenceError } = await import('./runtime/redis.ts');
  const onUnreachable = () => logger.warn('Redis cannot be reached: jobs are refused until it can');
  const onUploadThreadLost = (cause: Error) => logger.error({ err: cause }, 'upload thread lost');
  return openJobs({ redisUrl, database, secret, settings, onUnreachable, onUploadThreadLost }).catch(
    (error: unknown) => {
      throw error instanceof PersistenceError ? new ConfigError([error.message]) : error;
    },
  );
}

/** Of a fleet together where Redis is configured, of this process otherwise. */
async function openCounters(
  { redisUrl }: Config,
  secret: string,
  logger: Logger,
): Promise<RateLimiterFactory | undefined> {
  if (redisUrl === null) return undefined;
  const { createSharedRateLimiters } = await import('./auth/shared-rate-limiter.ts');
  const { openRedis } = await import('./runtime/redis.ts');
  return createSharedRateLimiters(openRedis(redisUrl), secret, (there) => {
    if (there) logger.info('Redis is back: limits are counted for all hosts together');
    else logger.warn('Redis cannot be reached: this process counts its own requests against the limits');
  });
}

function openAccounts({
  config,
  ...parts
}: Pick<AccountOptions, 'database' | 'tokens' | 'secret' | 'rateLimiters'> & {
  readonly config: Config;
}): Accounts {
  return createAccounts({
    ...parts,
    kind: databaseKind(config.databaseUrl),
    signUp: config.signUp,
    secure: config.publicUrl?.startsWith('https:') ?? false,
  });
}

/** Whatever has not been answered when the time is nearly over is answered 503. */
async function stop({ config, lifecycle, logger, pool, servers, tokens }: Service): Promise<void> {
  const limitMs = 1000 * config.shutdownSeconds;
  lifecycle.startDraining();
  const over = setTimeout(
    () => {
      logger.warn(pool.stats(), 'cutting off what is still running');
      pool.failAll(lifecycle.abort());
      setTimeout(() => {
        for (const server of servers) server.destroy();
      }, abortFlushMs);
    },
    Math.max(0, limitMs - 2 * abortFlushMs),
  );
  const graceMs = Math.min(1000 * config.graceSeconds, limitMs / 2);
  await new Promise((resolve) => setTimeout(resolve, graceMs));
  lifecycle.refuseNew();
  await Promise.all(servers.map((server) => server.drain()));
  clearTimeout(over);
  await pool.close();
  await tokens.flush().catch((error: unknown) => logger.warn({ err: error }, 'last uses are not written'));
  logger.info('stopped');
}

/** Ending the process while a thread is inside the runtime would abort it; between two steps of an analysis threads stop. */
async function abort({ lifecycle, pool }: Service): Promise<void> {
  pool.failAll(lifecycle.abort());
  await pool.close();
}

/** Faults of the operator are told in one line each; others with where they came from. */
function describeError(error: unknown): string {
  if (error instanceof ConfigError || error instanceof ModelError) return error.message;
  if (error instanceof ServiceError) {
    return `${error.message}: ${error.cause instanceof Error ? error.cause.message : String(error.cause)}`;
  }
  if (!(error instanceof Error)) return String(error);
  // The system refused: a port in use, a folder that cannot be made.
  return 'syscall' in error ? `The service cannot start: ${error.message}` : (error.stack ?? error.message);
}
