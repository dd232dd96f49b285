/** GET /metrics. */
import type { Router } from '@koa/router';
import type { Metrics } from '../middleware/metrics.ts';
import type { State } from '../state.ts';

export function addMetricsRoutes(router: Router<State>, { metrics }: { readonly metrics: Metrics }): void {
  router.get('/metrics', async function showMetrics(context) {
    context.set('Content-Type', metrics.contentType);
    context.body = await metrics.text();
  });
}
