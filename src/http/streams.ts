/** Everything that live sessions need, beside the app. */
import type { Logger } from 'pino';
import type { RateLimiterFactory } from '../auth/rate-limiter.ts';
import { createStreamTokens } from '../auth/stream-tokens.ts';
import type { Tokens } from '../auth/tokens.ts';
import type { Usage } from '../auth/usage.ts';
import { type Manifest, versionOf } from '../models/manifest.ts';
import type { Config } from '../runtime/config.ts';
import { ServiceError } from '../runtime/errors.ts';
import { createSessions } from '../stream/sessions.ts';
import type { Pool } from '../workers/pool.ts';
import { createByteBudget } from './body/byte-budget.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Metrics } from './middleware/metrics.ts';
import type { Streams } from './routes/stream.ts';
import { createSockets } from './sockets.ts';

type StreamsOptions = {
  readonly config: Config;
  readonly pool: Pool;
  readonly tokens: Pick<Tokens, 'findRevoked' | 'hasSeveralOwners'>;
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  readonly manifests: readonly Manifest[];
  readonly logger: Logger;
  readonly secret: string;
  readonly usage: Usage;
  /** Null: uses of tokens are counted in this process. */
  readonly rateLimiters: RateLimiterFactory | null;
};

/** Maximum delay of a revocation, and of the first token of a second owner, which any process can have written. */
const refreshMs = 2000;

export function createStreams(options: StreamsOptions): Streams {
  const { config, lifecycle, logger, manifests, pool, tokens, usage } = options;
  const budget = createByteBudget(config.stream.bufferBytes);
  const metrics = options.metrics.addStreams({ sessions: () => sessions.count(), bytes: budget.used });
  const models = manifests.map(versionOf);
  const onError = (cause: unknown) => logger.error({ err: cause }, 'live session failed');
  const sessions = createSessions({
    config,
    pool,
    tokens,
    budget,
    models,
    metrics,
    usage,
    onError,
  });
  lifecycle.shutdown.listen(sessions.abort);
  const refresh = async () => {
    try {
      await sessions.refresh();
    } catch (error) {
      // While the database is unreachable, sessions stay open, as known tokens stay valid.
      const isKnown = error instanceof ServiceError && error.code === 'storage_unavailable';
      if (!isKnown) logger.error({ err: error }, 'revoked sessions were not found');
    }
    setTimeout(refresh, refreshMs).unref();
  };
  void refresh();
  return { sessions, tokens: createStreamTokens(options), sockets: createSockets(config.stream.sessions) };
}
