/** The router of the service, and its routes of one function. */
import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { correctionOf, type Manifest, publishedName, unavailableOf } from '../../../engine/schema.ts';
import type { Usage } from '../../auth/usage.ts';
import { ServiceError } from '../../errors.ts';
import type { EmbeddedWorker } from '../../jobs/embedded-worker.ts';
import { type Lifecycle, readinessError } from '../../lifecycle.ts';
import type { ReceiptKeys } from '../../receipt-keys.ts';
import type { Pool } from '../../workers/pool.ts';
import type { State } from '../context.ts';
import { addMetricsRoutes } from '../metrics.ts';
import { sendJson, sendShared } from '../responses.ts';
import { type AccountRouteOptions, addAccountRoutes } from './account.ts';
import { type AnalysisOptions, addAnalyzeRoutes } from './analyze.ts';
import { addApiDocsRoutes, addDocsPagesRoutes } from './docs.ts';
import { addJobRoutes, type JobOptions } from './jobs.ts';
import { addStreamRoutes, type StreamOptions } from './live.ts';
import { addStaticRoutes, type StaticOptions } from './pages.ts';
import { addTrustRoutes } from './trust.ts';
import { addUsageRoutes } from './usage.ts';

type RouteOptions = AnalysisOptions &
  HealthOptions &
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
  addApiDocsRoutes(router, options);
  addDocsPagesRoutes(router, options);
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

// GET /health and GET /ready, for supervisors and load balancers.

type HealthOptions = {
  readonly lifecycle: Lifecycle;
  readonly pool: Pool;
  readonly embeddedWorker: Pick<EmbeddedWorker, 'waitReason'> | null;
};

function addHealthRoutes(router: Router<State>, { lifecycle, pool, embeddedWorker }: HealthOptions): void {
  router.get('/health', async function health(context) {
    sendJson(context, '{}');
  });
  router.get('/ready', async function ready(context) {
    const error = readinessError(lifecycle, pool);
    if (error !== null) throw error;
    const jobs = embeddedWorker?.waitReason() ?? null;
    sendJson(context, jobs === null ? '{}' : JSON.stringify({ jobs }));
  });
}

// GET /v1/models: the machine-readable evidence card of each model.

type ModelOptions = { readonly manifests: readonly Manifest[] };

function addModelRoutes(router: Router<State>, { manifests }: ModelOptions): void {
  const cards = Buffer.from(evidenceCards(manifests));
  router.get('/v1/models', async function listModels(context) {
    context.set('Content-Type', 'application/json');
    sendShared(context, [cards]);
  });
}

export function evidenceCards(manifests: readonly Manifest[]): string {
  return JSON.stringify({ models: manifests.map(evidenceCard) });
}

function evidenceCard(manifest: Manifest): object {
  const { version, description, weights, trunk, labels, training, licence, evidence } = manifest;
  return {
    name: publishedName(manifest.name),
    version,
    kind: publishedName(manifest.kind),
    description,
    features_version: manifest.featuresVersion,
    weights_sha256: weights.sha256,
    correction_sha256: correctionOf(manifest)?.sha256 ?? null,
    trunk,
    labels,
    data: training.data,
    metrics: training.metrics,
    limits: training.limits,
    figures: evidence.figures,
    failures: evidence.failures,
    intended_use: evidence.intendedUse,
    unintended_use: evidence.unintendedUse,
    deployment: evidence.deployment,
    rule: manifest.params,
    licence,
    unavailable: unavailableOf(manifest),
  };
}

// GET /.well-known/undertone-keys.json: the public keys of receipts.

const receiptKeysPath = '/.well-known/undertone-keys.json';

function addReceiptKeyRoutes(router: Router<State>, { published }: ReceiptKeys): void {
  const json = JSON.stringify({ keys: published });
  router.get(receiptKeysPath, async function receiptKeys(context) {
    sendJson(context, json);
  });
}
