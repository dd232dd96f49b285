/** Every route of the service. */
import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { signals as allSignals, type Signal } from '../analysis/signals/table.ts';
import { scopeOf } from '../auth/tokens.ts';
import type { Manifest } from '../models/manifest.ts';
import { Failure } from '../runtime/errors.ts';
import { unreadiness } from './lifecycle.ts';
import { type Gate, requireScopes } from './middleware/auth.ts';
import { unknownPath } from './middleware/errors.ts';
import { requireKnownHost } from './middleware/host.ts';
import type { Metrics } from './middleware/metrics.ts';
import { type AnalysisOptions, analyses } from './routes/analyze.ts';
import { addReference } from './routes/api-docs.ts';
import { addJobs, type JobOptions } from './routes/jobs.ts';
import { evidenceCards } from './routes/models.ts';
import { addPages, type Pages } from './routes/static.ts';
import type { State } from './state.ts';

export type RouteOptions = AnalysisOptions &
  JobOptions &
  Gate & {
    readonly metrics: Metrics;
    readonly manifests: readonly Manifest[];
    readonly pages: Pages;
  };

export function createRoutes(options: RouteOptions): Router<State> {
  const router = new Router<State>({ strict: true, sensitive: true });
  const analysis = (path: string, signals: readonly Signal[]) => {
    router.post(path, requireScopes(options, signals.map(scopeOf)), analyses(signals, options));
  };
  for (const signal of allSignals) analysis(`/v1/analyze/${signal}`, [signal]);
  analysis('/v1/analyze', allSignals);
  addJobs(router, options);
  const cards = evidenceCards(options.manifests);
  router.get('/v1/models', async function models(context) {
    json(context, cards);
  });
  router.get('/health', async function health(context) {
    json(context, '{}');
  });
  router.get('/ready', async function ready(context) {
    const failure = unreadiness(options.lifecycle, options.pool);
    if (failure !== null) throw failure;
    json(context, '{}');
  });
  if (options.config.metricsAddress === null) router.get('/metrics', showMetrics(options.metrics));
  addReference(router);
  addPages(router, options.pages, requireKnownHost(options.config));
  return router;
}

export function showMetrics(metrics: Metrics): Middleware<State> {
  return async function figures(context: Context) {
    context.set('Content-Type', metrics.contentType);
    context.body = await metrics.text();
  };
}

/** What no route took: a path that has routes for other methods, or an unknown one. */
export function refuseUnrouted(): Middleware<State> {
  return async function unrouted(context: Context) {
    const layers: readonly { readonly methods: readonly string[] }[] = context.matched ?? [];
    const allowed = [...new Set(layers.flatMap((layer) => layer.methods))].sort();
    if (allowed.length === 0) throw unknownPath();
    context.set('Allow', allowed.join(', '));
    throw new Failure(
      'method_not_allowed',
      `Expected ${allowed.join(' or ')} for \`method\`, got ${context.method}`,
    );
  };
}

function json(context: Context, body: string): void {
  context.set('Content-Type', 'application/json');
  context.body = body;
}
