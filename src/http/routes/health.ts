/** GET /health and GET /ready, for supervisors and load balancers. */
import type { Router } from '@koa/router';
import type { Pool } from '../../workers/pool.ts';
import { type Lifecycle, readinessError } from '../lifecycle.ts';
import { sendJson } from '../respond.ts';
import type { State } from '../state.ts';

type HealthOptions = { readonly lifecycle: Lifecycle; readonly pool: Pool };

export function addHealthRoutes(router: Router<State>, { lifecycle, pool }: HealthOptions): void {
  router.get('/health', async function health(context) {
    sendJson(context, '{}');
  });
  router.get('/ready', async function ready(context) {
    const error = readinessError(lifecycle, pool);
    if (error !== null) throw error;
    sendJson(context, '{}');
  });
}
