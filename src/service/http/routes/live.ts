/** GET /v1/stream, a WebSocket, and POST /v1/stream/tokens. */
import type { Router } from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import type { Logger } from 'pino';
import { type Manifest, versionOf } from '../../../engine/schema.ts';
import { streamTokenBody } from '../../api/live-schemas.ts';
import type { RateLimiterFactory } from '../../auth/rate-limits.ts';
import { createStreamTokens, type StreamTokens } from '../../auth/stream-tokens.ts';
import { scopes as analysisScopes, type Principal, type Tokens } from '../../auth/tokens.ts';
import type { Usage } from '../../auth/usage.ts';
import type { Config } from '../../config.ts';
import { hasCode, ServiceError } from '../../errors.ts';
import { admissionError, type Lifecycle } from '../../lifecycle.ts';
import { streamPath, subprotocol } from '../../live/protocol.ts';
import { createSessions, type Sessions } from '../../live/sessions.ts';
import type { Pool } from '../../workers/pool.ts';
import { type AuthOptions, accountOf, requireScopes, unauthorized, verifyBearer } from '../auth.ts';
import { createByteBudget } from '../body.ts';
import type { State } from '../context.ts';
import { createBodyRules, type ReadJson } from '../json.ts';
import type { Metrics } from '../metrics.ts';
import { requireKnownOrigin } from '../origins.ts';
import { sendPrivateJson } from '../responses.ts';
import { createSockets, type Sockets } from '../sockets.ts';
import { headOfUpgrade } from '../upgrades.ts';

export type Streams = {
  readonly sessions: Sessions;
  readonly tokens: StreamTokens;
  readonly sockets: Sockets;
};

export type StreamOptions = AuthOptions & {
  readonly config: Config;
  readonly pool: Pool;
  readonly lifecycle: Lifecycle;
  readonly readJson: ReadJson;
  readonly streams: Streams;
};

const switchingProtocols = 101;
const tokenRules = createBodyRules(1024, (kind) => (kind === 'too_large' ? `audio.${kind}` : kind));

export function addStreamRoutes(router: Router<State>, options: StreamOptions): void {
  const { config, streams } = options;
  const authenticate = (context: Context) => authenticateUpgrade(context, options);
  router.get(
    streamPath,
    requireUpgrade(),
    requireKnownOrigin(config.publicUrl, config.corsOrigins),
    requireScopes(options, [], authenticate),
    openSession(options),
  );
  router.post(
    `${streamPath}/tokens`,
    requireScopes(options, []),
    async function issueToken(context: Context) {
      const principal = context.state.principal as Principal;
      const allowed = analysisScopes.filter((scope) => principal.scopes.includes(scope));
      const { scopes = allowed } = await options.readJson(context, streamTokenBody, tokenRules);
      const wider = scopes.filter((scope) => !principal.scopes.includes(scope));
      if (wider.length > 0) {
        const message = `Expected scopes of the token in \`Authorization\` for \`scopes\`, got ${wider.join(' and ')}`;
        throw new ServiceError('forbidden', message);
      }
      const { token, expiresAt } = streams.tokens.issue(principal, scopes);
      sendPrivateJson(context, { token, expires_at: expiresAt.toISOString() });
    },
  );
}

const keyPattern = /^[A-Za-z0-9+/]{22}==$/;

const webSocketVersion = '13';

/** The opening handshake of a client: the numbers are those of RFC 6455, section 4.2.1. */
function requireUpgrade(): Middleware<State> {
  return async function upgrade(context: Context, next: Next) {
    // 3. and 4.: `Upgrade: websocket`, and `Connection: upgrade`, without which Node.js emits no upgrade.
    const isUpgrade =
      headOfUpgrade(context.req) !== null && context.get('Upgrade').toLowerCase() === 'websocket';
    // 6., before 5.: section 4.4 has the refusal name the version.
    if (isUpgrade && context.get('Sec-WebSocket-Version') !== webSocketVersion) {
      context.set('Sec-WebSocket-Version', webSocketVersion);
      const expected = `${webSocketVersion} for \`Sec-WebSocket-Version\``;
      throw new ServiceError('bad_request', `Expected ${expected}, got another`);
    }
    // 5.: 16 bytes in base64.
    if (!isUpgrade || !keyPattern.test(context.get('Sec-WebSocket-Key'))) {
      throw new ServiceError(
        'bad_request',
        `Expected a WebSocket handshake of version 13 for \`Upgrade\`, got none`,
      );
    }
    // 8.: optional there, required here.
    if (subprotocols(context)[0] === subprotocol) return next();
    const expected = `${subprotocol} as the first subprotocol`;
    throw new ServiceError('bad_request', `Expected ${expected} for \`Sec-WebSocket-Protocol\`, got another`);
  };
}

function subprotocols(context: Context): string[] {
  return context
    .get('Sec-WebSocket-Protocol')
    .split(',')
    .map((name) => name.trim());
}

/** A Bearer token, or a token of POST /v1/stream/tokens as the second subprotocol. */
async function authenticateUpgrade(context: Context, { tokens, streams }: StreamOptions): Promise<Principal> {
  const header = context.get('Authorization');
  const [, token] = subprotocols(context);
  if (header !== '' || token === undefined) return verifyBearer(tokens, header);
  const principal = await streams.tokens.redeem(token);
  if (principal === null) throw unauthorized('a session token that is unknown, expired or used');
  return principal;
}

function openSession({ lifecycle, pool, streams }: StreamOptions): Middleware<State> {
  return async function openSession(context: Context) {
    const { principal, requestId } = context.state;
    const account = accountOf(principal);
    const error = admissionError(lifecycle, pool);
    if (error !== null) throw error;
    streams.sessions.admit(account);
    context.status = switchingProtocols;
    context.respond = false;
    const client = { account, principal: principal as Principal, requestId };
    streams.sockets.accept(context.req, context.res, account, (connection) =>
      streams.sessions.open(connection, client),
    );
  };
}

// Everything that live sessions need, except the app.

type StreamsOptions = {
  readonly config: Config;
  readonly pool: Pool;
  readonly tokens: Pick<Tokens, 'findEnded' | 'hasSeveralOwners'>;
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  readonly manifests: readonly Manifest[];
  readonly logger: Logger;
  readonly secret: string;
  readonly usage: Usage;
  /** Null: uses of tokens are counted in this process. */
  readonly rateLimiters: RateLimiterFactory | null;
};

/** Maximum delay of a revocation or an expiry, and of the first token of a second owner, which any process can have written. */
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
      if (!hasCode(error, 'storage_unavailable'))
        logger.error({ err: error }, 'sessions of ended tokens were not found');
    }
    setTimeout(refresh, refreshMs).unref();
  };
  void refresh();
  return { sessions, tokens: createStreamTokens(options), sockets: createSockets(config.stream.sessions) };
}
