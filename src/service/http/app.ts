/** The Koa application, built without listening; its collaborators are passed in. */
import { randomUUID } from 'node:crypto';
import type { Context, Middleware, Next } from 'koa';
import Koa from 'koa';
import type { Logger } from 'pino';
import type { Stage } from '../../engine/index.ts';
import type { Manifest } from '../../engine/schema.ts';
import type { Accounts } from '../auth/accounts.ts';
import type { RateLimiterFactory } from '../auth/rate-limits.ts';
import { type Usage, usageKey } from '../auth/usage.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { EmbeddedWorker } from '../jobs/embedded-worker.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { type Lifecycle, readinessError } from '../lifecycle.ts';
import { networkOf } from '../network.ts';
import type { ReceiptKeys } from '../receipt-keys.ts';
import type { TraceExport } from '../traces.ts';
import type { Pool } from '../workers/pool.ts';
import { accountOf, type TokenVerifier } from './auth.ts';
import { createByteBudget, refuseCodings } from './body.ts';
import { type State, statusOf } from './context.ts';
import { handleErrors, unknownPath } from './errors.ts';
import { requireHost } from './hosts.ts';
import { createJsonReader } from './json.ts';
import type { Metrics } from './metrics.ts';
import { allowOrigins } from './origins.ts';
import { createRateLimits } from './rate-limits.ts';
import { GatheredRequest } from './request.ts';
import type { Streams } from './routes/live.ts';
import type { Pages } from './routes/pages.ts';
import { createMetricsRouter, createRouter, fixedPaths, rejectUnmatched } from './routes/routes.ts';
import { securityHeaders } from './security-headers.ts';
import { traceRequests } from './trace-context.ts';

type AppOptions = {
  readonly config: Config;
  readonly pool: Pool;
  readonly tokens: TokenVerifier;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly manifests: readonly Manifest[];
  readonly pages: Pages;
  readonly lifecycle: Lifecycle;
  readonly accounts: Accounts;
  readonly streams: Streams;
  readonly receiptKeys: ReceiptKeys;
  readonly usage: Usage;
  /** Null: the job routes answer 501. */
  readonly jobs: Jobs | null;
  readonly embeddedWorker: Pick<EmbeddedWorker, 'waitReason'> | null;
  /** Null: no spans are exported. */
  readonly traceExport: TraceExport | null;
  /** Null: requests are counted in this process. */
  readonly rateLimiters: RateLimiterFactory | null;
};

const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/;
/** A separate budget for account requests keeps log-ins working while analyses are refused. */
const accountBudgetBytes = 4 * 2 ** 20;
/** Of stored results of jobs that are sent. */
const resultBudgetBytes = 16 * 2 ** 20;

export function createApp(options: AppOptions): Koa<State> {
  const { accounts, config, jobs, lifecycle, logger, metrics, pool } = options;
  const budget = createByteBudget(config.bufferBytes);
  const accountBudget = createByteBudget(accountBudgetBytes);
  const results = createByteBudget(resultBudgetBytes);
  metrics.addGauges({
    bodies: budget,
    accountBodies: accountBudget,
    results,
    pool: pool.stats,
    ready: () => readinessError(lifecycle, pool) === null,
  });
  if (jobs !== null) metrics.addJobGauges(jobs.stats, jobs.waits.count);
  const app = createKoa(logger);
  // Only the last addresses of X-Forwarded-For were written by trusted proxies.
  app.proxy = config.trustedProxies > 0;
  app.maxIpsCount = config.trustedProxies;
  app.use(assignRequestId());
  app.use(traceRequests(options.traceExport, polledRoutes));
  app.use(observeRequests(metrics, logger));
  app.use(countUsage(options.usage));
  app.use(closeWhenDraining(lifecycle));
  app.use(securityHeaders(config.publicUrl?.startsWith('https:') ?? false));
  app.use(handleErrors(logger));
  app.use(requireHost());
  app.use(refuseCodings());
  if (config.corsOrigins.length > 0) app.use(allowOrigins(config.corsOrigins));
  const limits = createRateLimits(config, options.rateLimiters);
  app.use(limits.address);
  const readJson = createJsonReader({ config, budget, lifecycle, account: tokenAccount });
  const accountReader = { config, budget: accountBudget, lifecycle, account: clientNetwork };
  const account = { accounts, config, readJson: createJsonReader(accountReader) };
  const router = createRouter({ ...options, budget, results, limits, readJson, account });
  app.use(router.routes());
  const paths = fixedPaths(router);
  app.use(rejectUnmatched((context) => unknownPath(context, paths)));
  return app;
}

async function tokenAccount({ state }: Context): Promise<string> {
  return accountOf(state.principal);
}

/** The account of requests without a token: their network. */
async function clientNetwork({ ip }: Context): Promise<string> {
  return networkOf(ip);
}

/** The application of UNDERTONE_METRICS_ADDRESS: GET /metrics only. */
export function createMetricsApp(
  options: Parameters<typeof createMetricsRouter>[0],
  logger: Logger,
): Koa<State> {
  const app = createKoa(logger);
  app.use(assignRequestId());
  app.use(handleErrors(logger));
  app.use(requireHost());
  app.use(createMetricsRouter(options).routes());
  app.use(rejectUnmatched(() => new ServiceError('not_found', 'Expected /metrics for `path`, got another')));
  return app;
}

/** Koa emits errors of broken connections while it writes a response. */
function createKoa(logger: Logger): Koa<State> {
  const app = new Koa<State>();
  app.on('error', (error: Error) => logger.debug({ err: error }, 'connection error'));
  return app;
}

function assignRequestId(): Middleware<State> {
  return async function requestId(context: Context, next: Next) {
    const header = context.get('X-Request-Id');
    const id = requestIdPattern.test(header) ? header : randomUUID();
    const state: State = {
      requestId: id,
      traceId: null,
      startedAt: performance.now(),
      stages: [],
      audioSeconds: 0,
      clientAborted: false,
    };
    context.state = state;
    context.set('X-Request-Id', id);
    return next();
  };
}

/** Logs and measures each request, without tokens, audio, paths or file names. */
function observeRequests(metrics: Metrics, logger: Logger): Middleware<State> {
  return async function observe(context: Context, next: Next) {
    await next();
    const { requestId, traceId, principal, audioSeconds, startedAt, stages } = context.state;
    const route = typeof context._matchedRoute === 'string' ? context._matchedRoute : 'other';
    const method = context.method in methods ? context.method : 'other';
    const status = statusOf(context);
    const ms = performance.now() - startedAt;
    metrics.record({ route, method, status, ms, stages });
    const level = polledRoutes.has(route) ? 'debug' : 'info';
    const fields = {
      request_id: requestId,
      ...(traceId === null ? {} : { trace_id: traceId }),
      route,
      method,
      status,
      ms: Math.round(ms),
      token_id: principal?.id ?? null,
      bytes: context.req instanceof GatheredRequest ? context.req.bodyBytes : 0,
      audio_s: audioSeconds,
      stages: Object.fromEntries(stages.map(({ name, ms }: Stage) => [name, Math.round(10 * ms) / 10])),
    };
    logger[level](fields, 'request');
  };
}

/** Counts the requests of each token. */
function countUsage(usage: Usage): Middleware<State> {
  return async function count(context: Context, next: Next) {
    await next();
    const { principal, audioSeconds } = context.state;
    if (principal === undefined) return;
    usage.add(usageKey(principal), { requests: 1, errors: statusOf(context) >= 400 ? 1 : 0, audioSeconds });
  };
}

const methods = { GET: 0, HEAD: 0, POST: 0, PUT: 0, PATCH: 0, DELETE: 0, OPTIONS: 0 };

/** Polled every few seconds: logged at debug level, and not exported as traces. */
const polledRoutes: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics']);

function closeWhenDraining(lifecycle: Lifecycle): Middleware<State> {
  return async function closeConnection(context: Context, next: Next) {
    await next();
    if (lifecycle.draining() && !context.headerSent) context.set('Connection', 'close');
  };
}
