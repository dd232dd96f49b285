/** Every route of the service. */
import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { signals as allSignals, type Signal } from '../analysis/signals/table.ts';
import { scopeOf } from '../auth/tokens.ts';
import type { Manifest } from '../models/manifest.ts';
import { ServiceError } from '../runtime/errors.ts';
import { readinessError } from './lifecycle.ts';
import { type AuthOptions, requireScopes } from './middleware/auth.ts';
import { unknownPath } from './middleware/errors.ts';
import { requireKnownHost } from './middleware/host.ts';
import type { Metrics } from './middleware/metrics.ts';
import { type AnalysisOptions, analyze } from './routes/analyze.ts';
import { addApiDocs } from './routes/api-docs.ts';
import { addJobRoutes, type JobOptions } from './routes/jobs.ts';
import { evidenceCards } from './routes/models.ts';
import { addStaticRoutes, type Pages } from './routes/static.ts';
import type { State } from './state.ts';

export type RouteOptions = AnalysisOptions &
  JobOptions &
  AuthOptions & {
    readonly metrics: Metrics;
    readonly manifests: readonly Manifest[];
    readonly pages: Pages;
  };

export function createRoutes(options: RouteOptions): Router<State> {
  const router = new Router<State>({ strict: true, sensitive: true });
  const analysis = (path: string, signals: readonly Signal[]) => {
    router.post(path, requireScopes(options, signals.map(scopeOf)), analyze(signals, options));
  };
  for (const signal of allSignals) analysis(`/v1/analyze/${signal}`, [signal]);
  analysis('/v1/analyze', allSignals);
  addJobRoutes(router, options);
  const cards = evidenceCards(options.manifests);
  router.get('/v1/models', async function models(context) {
    sendJson(context, cards);
  });
  router.get('/health', async function health(context) {
    sendJson(context, '{}');
  });
  router.get('/ready', async function ready(context) {
    const failure = readinessError(options.lifecycle, options.pool);
    if (failure !== null) throw failure;
    sendJson(context, '{}');
  });
  if (options.config.metricsAddress === null) router.get('/metrics', showMetrics(options.metrics));
  addApiDocs(router);
  addStaticRoutes(router, options.pages, requireKnownHost(options.config));
  return router;
}

export function showMetrics(metrics: Metrics): Middleware<State> {
  return async function figures(context: Context) {
    context.set('Content-Type', metrics.contentType);
    context.body = await metrics.text();
  };
}

/** What no route took: a path that has routes for other methods, or an unknown one. */
export function rejectUnmatched(): Middleware<State> {
  return async function unrouted(context: Context) {
    const layers: readonly { readonly methods: readonly string[] }[] = context.matched ?? [];
    const allowed = [...new Set(layers.flatMap((layer) => layer.methods))].sort();
    if (allowed.length === 0) throw unknownPath();
    context.set('Allow', allowed.join(', '));
    throw new ServiceError(
      'method_not_allowed',
      `Expected ${allowed.join(' or ')} for \`method\`, got ${context.method}`,
    );
  };
}

function sendJson(context: Context, body: string): void {
  context.set('Content-Type', 'application/json');
  context.body = body;
}
