/** GET /metrics. */
import type { Router } from '@koa/router';
import { requireKnownHost } from '../middleware/host.ts';
import type { Metrics } from '../middleware/metrics.ts';
import type { State } from '../state.ts';

type MetricsOptions = {
  readonly metrics: Metrics;
  /** A page of a name that was rebound to this address must not read them. */
  readonly config: Parameters<typeof requireKnownHost>[0];
};

export function addMetricsRoutes(router: Router<State>, { metrics, config }: MetricsOptions): void {
  router.get('/metrics', requireKnownHost(config), async function showMetrics(context) {
    context.set('Content-Type', metrics.contentType);
    context.body = await metrics.text();
  });
}
