/** Composition root of the service: config, workers -> database, accounts, jobs, app, servers and signals. */
import type { Logger } from 'pino';
import { readManifests } from '../node/models.ts';
import { pagesFolder } from '../node/paths.ts';
import { type AccountOptions, type Accounts, createAccounts } from './auth/accounts.ts';
import type { PlaygroundCodes } from './auth/playground-codes.ts';
import type { RateLimiterFactory } from './auth/rate-limits.ts';
import { loadOrCreateSecret } from './auth/secret.ts';
import { createTokens, type Tokens } from './auth/tokens.ts';
import { createUsageCounts, type Usage } from './auth/usage.ts';
import { createWriteFailures } from './background-writes.ts';
import { type Config, ConfigError, defaultMetricsAddress } from './config.ts';
import { checkpoint, type Database, databaseKind, openDatabase } from './database.ts';
import { lockDatabase } from './database-lock.ts';
import { keepDeletingExpired } from './expiry.ts';
import { createApp, createMetricsApp } from './http/app.ts';
import { createMetrics } from './http/metrics.ts';
import { createStreams, type Streams } from './http/routes/live.ts';
import { readExample, readPages, readSetNames } from './http/routes/pages.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import type { EmbeddedWorker } from './jobs/embedded-worker.ts';
import type { Jobs } from './jobs/jobs.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { openReceiptKeys, type ReceiptKeys } from './receipt-keys.ts';
import { handleSignals } from './shutdown.ts';
import type { TraceExport } from './traces.ts';
import type { Pool } from './workers/pool.ts';

/** Called once, when the service is ready. Returns what is printed below the listening line. */
export type Welcome = (service: {
  readonly url: string;
  readonly config: Config;
  readonly tokens: Tokens;
  readonly playgroundCodes: PlaygroundCodes;
}) => Promise<string>;

/** Time to send the responses of aborted requests. */
const abortFlushMs = 300;
/** Limit of the export of the last traces, within the time that supervisors wait after the shutdown limit. */
const maxExportMs = 2000;

type Service = {
  readonly config: Config;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly pool: Pool;
  readonly servers: readonly HttpServer[];
  readonly database: Database;
  /** Ends the deletion of expired rows. */
  stopDeleting(): Promise<void>;
  readonly tokens: Tokens;
  readonly usage: Usage;
  readonly streams: Streams;
  readonly jobs: Jobs | null;
  readonly embeddedWorker: EmbeddedWorker | null;
  readonly traceExport: TraceExport | null;
};

type ServiceOptions = Pick<Service, 'config' | 'logger' | 'pool'> & {
  readonly welcome: Welcome | undefined;
  /** Ends the process. */
  exit(code: number): void;
  /** @see handleSignals */
  readonly parent: number | null;
};

/** Opens everything but the workers, then waits for the first of them. */
export async function openService({
  config,
  welcome,
  logger,
  pool,
  exit,
  parent,
}: ServiceOptions): Promise<void> {
  const lifecycle = createLifecycle();
  const metrics = createMetrics();
  const manifests = await readManifests(config.modelsDir);
  const receiptKeys = await openReceiptKeys(config);
  if (receiptKeys.isEarly())
    logger.warn('the clock is behind the start of the receipt keys: receipts have its time');
  await lockDatabase(config, logger);
  const database = await openDatabase(config.databaseUrl);
  const failures = createWriteFailures(logger);
  metrics.addWriteFailures(failures.counts);
  const stopDeleting = keepDeletingExpired(database, failures);
  const tokens = createTokens({ database, staticToken: config.token, failures });
  const usage = createUsageCounts(database, Date.now, failures);
  const secret = config.secret ?? (await loadOrCreateSecret(config.dataDir));
  const rateLimiters = await openRateLimiters(config, secret, logger);
  const accounts = openAccounts({ config, database, tokens, usage, secret, rateLimiters });
  const jobs = await openJobQueue(config, database, secret, logger);
  const embeddedWorker =
    jobs &&
    (await createEmbeddedWorker(jobs, { config, pool, database, secret, usage, receiptKeys, logger }));
  const pages = await readPages(pagesFolder, {
    example: await readExample(config.modelsDir, manifests, logger),
    sets: await readSetNames(config),
  });
  const traceExport = await openTraces(config);
  const collaborators = { config, pool, tokens, usage, lifecycle, metrics, manifests, logger, rateLimiters };
  const streams = createStreams({ ...collaborators, secret });
  const app = createApp({
    ...collaborators,
    accounts,
    pages,
    streams,
    receiptKeys,
    jobs,
    embeddedWorker,
    traceExport,
  });
  const seconds = config.deadlineSeconds;
  const main = createHttpServer(app.callback(), {
    seconds,
    trustedProxies: config.trustedProxies,
    ...(jobs === null ? {} : { jobSeconds: config.jobs.uploadSeconds }),
  });
  metrics.addUnread(main.unread);
  const servers = [main];
  const url = await main.listen(config);
  const metricsServer = await serveMetrics(config, metrics, logger);
  if (metricsServer.server !== null) servers.push(metricsServer.server);
  const service: Service = {
    config,
    logger,
    lifecycle,
    pool,
    servers,
    database,
    stopDeleting,
    tokens,
    usage,
    streams,
    jobs,
    embeddedWorker,
    traceExport,
  };
  handleSignals({
    logger,
    stop: () => stop(service),
    abort: () => abort(service),
    exit,
    parent,
  });
  await pool.ready;
  const more = (await welcome?.({ url, config, tokens, playgroundCodes: accounts.playgroundCodes })) ?? '';
  // In one write: a reader of the listening line has the token too.
  process.stdout.write(`listening on ${url}\n${metricsServer.line}${more}`);
}

/** `server` is null without a separate address, and where another process uses the default one. `line` says so. */
async function serveMetrics(
  { metricsAddress, publicUrl, deadlineSeconds }: Config,
  metrics: ReturnType<typeof createMetrics>,
  logger: Logger,
): Promise<{ readonly server: HttpServer | null; readonly line: string }> {
  if (typeof metricsAddress === 'string') return { server: null, line: '' };
  const app = createMetricsApp({ metrics, config: { publicUrl, host: metricsAddress.host } }, logger);
  const server = createHttpServer(app.callback(), { seconds: deadlineSeconds });
  try {
    const url = await server.listen(metricsAddress);
    logger.info({ url }, 'metrics');
    return { server, line: `metrics on ${url}/metrics\n` };
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (!taken || metricsAddress !== defaultMetricsAddress) throw error;
    const reason = 'no metrics: another process listens on 127.0.0.1:9464; set UNDERTONE_METRICS_ADDRESS';
    logger.warn(reason);
    return { server: null, line: `${reason}\n` };
  }
}

/** Loads OpenTelemetry only if it is configured. */
async function openTraces({ otlpUrl }: Config): Promise<TraceExport | null> {
  if (otlpUrl === null) return null;
  return (await import('./traces.ts')).openTraceExport(otlpUrl);
}

/** Loads its modules only if jobs are available. */
async function openJobQueue(
  { redisUrl, databaseUrl, jobs: settings }: Config,
  database: Database,
  secret: string,
  logger: Logger,
): Promise<Jobs | null> {
  if (!settings.available) return null;
  const { openJobs } = await import('./jobs/jobs.ts');
  const onUnreachable = () => logger.warn('Redis is unreachable: job requests fail until it is reachable');
  const onUploadThreadLost = (cause: Error) => logger.error({ err: cause }, 'upload thread lost');
  return openJobs({
    redisUrl,
    database,
    databaseUrl,
    secret,
    settings,
    onUnreachable,
    onUploadThreadLost,
  }).catch((error: unknown) => {
    throw error instanceof Error && error.name === 'PersistenceError'
      ? new ConfigError([error.message])
      : error;
  });
}

async function createEmbeddedWorker(
  jobs: Jobs,
  collaborators: Pick<Service, 'config' | 'pool' | 'database' | 'usage' | 'logger'> & {
    readonly secret: string;
    readonly receiptKeys: ReceiptKeys;
  },
): Promise<EmbeddedWorker> {
  const { config, pool, secret, logger } = collaborators;
  const { redisUrl, jobs: settings } = config;
  const { createCipher } = await import('./jobs/cipher.ts');
  const { openRedisSource, startJobWorker } = await import('./jobs/worker.ts');
  const { openEmbeddedWorker } = await import('./jobs/embedded-worker.ts');
  const cipher = createCipher(secret);
  const start = async () => {
    await pool.started;
    const source =
      redisUrl === null
        ? { ...jobs, close: async () => {} }
        : await openRedisSource(redisUrl, cipher, config);
    return startJobWorker({
      ...collaborators,
      kind: 'service',
      source,
      results: jobs.results,
      cipher,
      concurrency: settings.workers,
    });
  };
  return openEmbeddedWorker({ queues: jobs.queues, start: settings.workers > 0 ? start : null, logger });
}

/** Counts requests in Redis for all hosts if it is configured, else in this process. */
async function openRateLimiters(
  { redisUrl }: Config,
  secret: string,
  logger: Logger,
): Promise<RateLimiterFactory | null> {
  if (redisUrl === null) return null;
  const { createSharedRateLimiters } = await import('./auth/rate-limits.ts');
  const { openRedis } = await import('./redis.ts');
  return createSharedRateLimiters(openRedis(redisUrl), secret, (reachable) => {
    if (reachable) logger.info('Redis is back: limits are counted for all hosts together');
    else logger.warn('Redis cannot be reached: this process counts its own requests against the limits');
  });
}

function openAccounts({
  config,
  ...parts
}: Pick<AccountOptions, 'database' | 'tokens' | 'usage' | 'secret' | 'rateLimiters'> & {
  readonly config: Config;
}): Accounts {
  return createAccounts({
    ...parts,
    kind: databaseKind(config.databaseUrl),
    signUp: config.signUp,
    secure: config.publicUrl?.startsWith('https:') ?? false,
  });
}

/** Graceful shutdown. Requests that are still running shortly before the limit are answered 503. */
async function stop({
  config,
  database,
  jobs,
  lifecycle,
  logger,
  embeddedWorker,
  pool,
  servers,
  stopDeleting,
  streams,
  tokens,
  usage,
  traceExport,
}: Service): Promise<void> {
  const limitMs = 1000 * config.shutdownSeconds;
  lifecycle.startDraining();
  const abortTimer = setTimeout(
    () => {
      logger.warn(pool.stats(), 'shutdown limit reached: aborting running requests');
      // Before `failAll`: jobs return to the queue.
      void embeddedWorker?.abort();
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
  streams.sessions.drain();
  jobs?.waits.end();
  // A queue that is unreachable does not hold up the end.
  const jobsEnd = new Promise((resolve) => setTimeout(resolve, limitMs).unref());
  await Promise.all([
    ...servers.map((server) => server.drain()),
    Promise.race([embeddedWorker?.stop(), jobsEnd]),
  ]);
  clearTimeout(abortTimer);
  await pool.close();
  for (const write of await Promise.allSettled([tokens.flush(), usage.flush()])) {
    if (write.status === 'rejected')
      logger.warn({ err: write.reason }, 'cannot write the last use of tokens or their counts');
  }
  await stopDeleting();
  await checkpoint(database, config.databaseUrl).catch((error: unknown) =>
    logger.warn({ err: error }, 'cannot write the journal of the database into its file'),
  );
  const exported = traceExport
    ?.close()
    .catch((error: unknown) => logger.warn({ err: error }, 'cannot export the last traces'));
  await Promise.race([exported, new Promise((resolve) => setTimeout(resolve, maxExportMs))]);
  logger.info('stopped');
}

/** Waits for the threads, which stop between two steps of an analysis: exiting inside ONNX Runtime would abort the process. */
async function abort({ lifecycle, embeddedWorker, pool }: Service): Promise<void> {
  const jobsEnd = embeddedWorker?.abort();
  pool.failAll(lifecycle.abort());
  await pool.close();
  await Promise.race([jobsEnd, new Promise((resolve) => setTimeout(resolve, abortFlushMs))]);
}
