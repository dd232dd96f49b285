/** The router of the service. */
import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Usage } from '../auth/usage.ts';
import { ServiceError } from '../runtime/errors.ts';
import { type AccountRouteOptions, addAccountRoutes } from './routes/account.ts';
import { type AnalysisOptions, addAnalyzeRoutes } from './routes/analyze.ts';
import { addApiDocsRoutes } from './routes/api-docs.ts';
import { addDocsPagesRoutes } from './routes/docs-pages.ts';
import { addHealthRoutes } from './routes/health.ts';
import { addJobRoutes, type JobOptions } from './routes/jobs.ts';
import { addMetricsRoutes } from './routes/metrics.ts';
import { addModelRoutes, type ModelOptions } from './routes/models.ts';
import { addReceiptKeyRoutes } from './routes/receipt-keys.ts';
import { addStaticRoutes, type StaticOptions } from './routes/static.ts';
import { addStreamRoutes, type StreamOptions } from './routes/stream.ts';
import { addTrustRoutes } from './routes/trust.ts';
import { addUsageRoutes } from './routes/usage.ts';
import type { State } from './state.ts';

type RouteOptions = AnalysisOptions &
  JobOptions &
  ModelOptions &
  StaticOptions &
  StreamOptions &
  Parameters<typeof addMetricsRoutes>[1] & {
    readonly usage: Usage;
    readonly account: AccountRouteOptions;
  };

export function createRouter(options: RouteOptions): Router<State> {
  const router = emptyRouter();
  addAnalyzeRoutes(router, options);
  addJobRoutes(router, options);
  addUsageRoutes(router, options);
  addStreamRoutes(router, options);
  addModelRoutes(router, options);
  addReceiptKeyRoutes(router, options.receiptKeys);
  addTrustRoutes(router, options);
  addHealthRoutes(router, options);
  if (options.config.metricsAddress === 'public') addMetricsRoutes(router, options);
  addApiDocsRoutes(router);
  addDocsPagesRoutes(router);
  addStaticRoutes(router, options);
  addAccountRoutes(router, options.account);
  return router;
}

/** The paths without parameters, for errors. */
export function fixedPaths({ stack }: Router<State>): readonly string[] {
  return [...new Set(stack.map(({ path }) => String(path)))].filter((path) => !path.includes(':'));
}

/** The router of UNDERTONE_METRICS_ADDRESS. */
export function createMetricsRouter(options: Parameters<typeof addMetricsRoutes>[1]): Router<State> {
  const router = emptyRouter();
  addMetricsRoutes(router, options);
  return router;
}

function emptyRouter(): Router<State> {
  return new Router<State>({ strict: true, sensitive: true });
}

/** Throws 405 for a known path with another method, and 404 for an unknown path. */
export function rejectUnmatched(notFound: (context: Context) => ServiceError): Middleware<State> {
  return async function unmatched(context: Context) {
    const layers: readonly { readonly methods: readonly string[] }[] = context.matched ?? [];
    const allowed = [...new Set(layers.flatMap((layer) => layer.methods))].sort();
    if (allowed.length === 0) throw notFound(context);
    context.set('Allow', allowed.join(', '));
    throw new ServiceError(
      'method_not_allowed',
      `Expected ${allowed.join(' or ')} for \`method\`, got ${context.method}`,
    );
  };
}
