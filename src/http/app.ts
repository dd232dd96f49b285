/** The application, built without listening; whatever it works with is passed in. */
import { randomUUID } from 'node:crypto';
import Koa, { type Context, type Middleware, type Next } from 'koa';
import type { Logger } from 'pino';
import type { Accounts } from '../auth/accounts.ts';
import type { RateLimiterFactory } from '../auth/rate-limiter.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Manifest } from '../models/manifest.ts';
import type { Config } from '../runtime/config.ts';
import { ServiceError } from '../runtime/errors.ts';
import type { Pool } from '../workers/pool.ts';
import { createByteBudget } from './body/byte-budget.ts';
import { createJsonReader } from './body/json.ts';
import { type Lifecycle, readinessError } from './lifecycle.ts';
import { accountOf, type TokenVerifier } from './middleware/auth.ts';
import { allowOrigins } from './middleware/cors.ts';
import { handleErrors } from './middleware/errors.ts';
import { requireHost } from './middleware/host.ts';
import type { Metrics } from './middleware/metrics.ts';
import { createRateLimits } from './middleware/rate-limit.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { createAccountRoutes } from './routes/account.ts';
import type { Pages } from './routes/static.ts';
import { createRoutes, rejectUnmatched, showMetrics } from './routes.ts';
import type { State } from './state.ts';

export type AppOptions = {
  readonly config: Config;
  readonly pool: Pool;
  readonly tokens: TokenVerifier;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly manifests: readonly Manifest[];
  readonly pages: Pages;
  readonly lifecycle: Lifecycle;
  /** Without them there is no account page to serve. */
  readonly accounts?: Accounts;
  /** Without them the routes of jobs say that they are not configured. */
  readonly jobs?: Jobs;
  /** Where requests are counted; by default in this process. */
  readonly rateLimiters?: RateLimiterFactory | undefined;
};

const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/;
const clientClosedRequest = 499;
/** For the bodies of account requests, of at most 16 KiB each: log-ins work while analyses are refused. */
const accountBudgetBytes = 4 * 2 ** 20;

export function createApp(options: AppOptions): Koa<State> {
  const { config, lifecycle, logger, metrics, pool } = options;
  const budget = createByteBudget(config.bufferBytes);
  const accountBudget = createByteBudget(accountBudgetBytes);
  metrics.watch({
    bodies: budget,
    accountBodies: accountBudget,
    pool: pool.stats,
    ready: () => readinessError(lifecycle, pool) === null,
  });
  const jobs = options.jobs ?? null;
  if (jobs !== null) metrics.watchJobs(jobs.stats);
  const app = createBase(logger);
  // Of the addresses that the header names only the last ones were written by proxies of ours.
  app.proxy = config.trustedProxies > 0;
  app.maxIpsCount = config.trustedProxies;
  app.use(assignRequestId());
  app.use(observeRequests(metrics, logger));
  app.use(closeWhenDraining(lifecycle));
  app.use(securityHeaders(config.publicUrl?.startsWith('https:') ?? false));
  app.use(handleErrors(logger));
  app.use(requireHost());
  if (config.corsOrigins.length > 0) app.use(allowOrigins(config.corsOrigins));
  const limits = createRateLimits(config, options.rateLimiters);
  const readJson = createJsonReader({ config, budget, lifecycle, account: tokenAccount });
  app.use(createRoutes({ ...options, budget, limits, jobs, readJson }).routes());
  const { accounts } = options;
  if (accounts) {
    const reader = { config, budget: accountBudget, lifecycle, account: clientNetwork };
    const routes = { accounts, config, readJson: createJsonReader(reader) };
    app.use(createAccountRoutes(routes).routes());
  }
  app.use(rejectUnmatched());
  return app;
}

async function tokenAccount({ state }: Context): Promise<string> {
  return accountOf(state.grant);
}

/** For requests without a token. Loaded with the first of them. */
async function clientNetwork({ ip }: Context): Promise<string> {
  const { networkOf } = await import('../auth/rate-limiter.ts');
  return networkOf(ip);
}

/** For an address of its own: GET /metrics and nothing else. */
export function createMetricsApp(metrics: Metrics, logger: Logger): Koa<State> {
  const app = createBase(logger);
  const show = showMetrics(metrics);
  app.use(assignRequestId());
  app.use(handleErrors(logger));
  app.use(requireHost());
  app.use(async function only(context, next) {
    if (context.path !== '/metrics')
      throw new ServiceError('not_found', 'Expected /metrics for `path`, got another');
    if (context.method !== 'GET' && context.method !== 'HEAD') {
      context.set('Allow', 'GET, HEAD');
      throw new ServiceError(
        'method_not_allowed',
        `Expected GET or HEAD for \`method\`, got ${context.method}`,
      );
    }
    await show(context, next);
  });
  return app;
}

/** Errors that Koa meets while it writes an answer: mostly connections that broke. */
function createBase(logger: Logger): Koa<State> {
  const app = new Koa<State>();
  app.on('error', (error: Error) => logger.debug({ err: error }, 'connection error'));
  return app;
}

function assignRequestId(): Middleware<State> {
  return async function requestId(context: Context, next: Next) {
    const given = context.get('X-Request-Id');
    const id = requestIdPattern.test(given) ? given : randomUUID();
    const state: State = { requestId: id, startedAt: performance.now(), stages: [], clientAborted: false };
    context.state = state;
    context.set('X-Request-Id', id);
    return next();
  };
}

/** One log line and one observation a request; neither holds a token, a byte of audio, a path or a file name. */
function observeRequests(metrics: Metrics, logger: Logger): Middleware<State> {
  return async function observe(context: Context, next: Next) {
    await next();
    const { requestId, startedAt, stages, gone } = context.state;
    const route = typeof context._matchedRoute === 'string' ? context._matchedRoute : 'other';
    const method = context.method in methods ? context.method : 'other';
    const status = gone ? clientClosedRequest : context.status;
    const ms = performance.now() - startedAt;
    metrics.record({ route, method, status, ms, stages });
    const level = polledRoutes.has(route) ? 'debug' : 'info';
    logger[level]({ request_id: requestId, route, method, status, ms: Math.round(ms) }, 'request');
  };
}

const methods = { GET: 0, HEAD: 0, POST: 0, PUT: 0, PATCH: 0, DELETE: 0, OPTIONS: 0 };

/** What machines ask for every few seconds. */
const polledRoutes: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics']);

function closeWhenDraining(lifecycle: Lifecycle): Middleware<State> {
  return async function lastAnswer(context: Context, next: Next) {
    await next();
    if (lifecycle.draining() && !context.headerSent) context.set('Connection', 'close');
  };
}
