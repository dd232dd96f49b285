/** The real app on a real server in this process, with threads that obey (see thread.ts). */
import { join } from 'node:path';
import pino from 'pino';
import { boundary, contentType } from '../../benchmarks/upload-body.ts';
import { type Accounts, createAccounts } from '../../src/service/auth/accounts.ts';
import type { RateLimiterFactory } from '../../src/service/auth/rate-limits.ts';
import { createTokens, type Tokens } from '../../src/service/auth/tokens.ts';
import { createUsageCounts, type Usage } from '../../src/service/auth/usage.ts';
import { type Config, parseConfig } from '../../src/service/config.ts';
import { type Database, openDatabase } from '../../src/service/database.ts';
import { createApp } from '../../src/service/http/app.ts';
import { createMetrics, type Metrics } from '../../src/service/http/metrics.ts';
import { createStreams, type Streams } from '../../src/service/http/routes/live.ts';
import type { Pages } from '../../src/service/http/routes/pages.ts';
import { createHttpServer, type HttpServer } from '../../src/service/http/server.ts';
import type { Jobs } from '../../src/service/jobs/jobs.ts';
import { createLifecycle, type Lifecycle } from '../../src/service/lifecycle.ts';
import type { DatabaseKind } from '../../src/service/migrations.ts';
import { loadOrCreateKeys } from '../../src/service/receipt-keys.ts';
import { createPool, type Pool } from '../../src/service/workers/pool.ts';
import { builtFile } from './built-file.ts';
import { makeDatabaseUrl } from './database.ts';
import { makeFolder } from './folder.ts';
import type { Teardown } from './share.ts';
import type { ThreadTask } from './thread.ts';
import { until } from './wait.ts';

export type App = {
  readonly port: number;
  readonly config: Config;
  readonly pool: Pool;
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  readonly streams: Streams;
  readonly server: HttpServer;
  /** One line of JSON each. */
  readonly log: readonly string[];
  /** Lets the threads get warm where `wait` is false. */
  load(): void;
  /** The value of a gauge or counter by its whole name, labels included. */
  metric(name: string): Promise<number>;
};

export const tokens = {
  full: 'token-with-every-scope',
  emotion: 'token-for-emotion-alone',
  broken: 'token-that-cannot-be-looked-up',
} as const;

export type AppSettings = {
  readonly env?: Readonly<Record<string, string>>;
  readonly verifier?: Partial<Pick<Tokens, 'verify' | 'findEnded' | 'hasSeveralOwners'>>;
  /** Those of an empty database by default. */
  readonly accounts?: OpenAccounts;
  readonly rateLimiters?: RateLimiterFactory;
  /** The job routes return 501 without it. */
  readonly jobs?: Jobs;
  /** None by default. */
  readonly pages?: Pages;
  /** False serves before the threads are warm, which they get with `load`. */
  readonly wait?: boolean;
};

/** Of every app: hosts of one installation share it. */
const secret = 'a secret of the tests, 32 characters or more';
const file = builtFile('thread');

const verifier: Pick<Tokens, 'verify' | 'findEnded' | 'hasSeveralOwners'> = {
  verify: async (token) => {
    if (token === tokens.full)
      return {
        id: '1',
        name: 'full',
        owner: null,
        purpose: null,
        session: null,
        scopes: ['analyze:emotion', 'analyze:cognitive'],
      };
    return token === tokens.emotion
      ? { id: '2', name: 'emotion', owner: null, purpose: null, session: null, scopes: ['analyze:emotion'] }
      : null;
  },
  findEnded: async () => ({ revoked: [], expired: [] }),
  hasSeveralOwners: async () => true,
};

export type OpenAccounts = {
  readonly accounts: Accounts;
  readonly database: Database;
  readonly tokens: Tokens;
  readonly usage: Usage;
};

/** Accounts in a real database, which is closed at the end of the test. */
export async function openAccounts(
  t: Teardown,
  { publicUrl, secret: configured, signUp }: Config,
  kind: DatabaseKind = 'sqlite',
  url?: string,
): Promise<OpenAccounts> {
  const database = await openDatabase(url ?? (await makeDatabaseUrl(kind)));
  t.teardown(() => database.destroy());
  const tokens = createTokens({ database, staticToken: null });
  const usage = createUsageCounts(database);
  const secure = publicUrl?.startsWith('https') ?? false;
  const stored = { database, kind, tokens, usage, secret: configured ?? secret };
  const accounts = createAccounts({ ...stored, signUp, secure, rateLimiters: null });
  return { accounts, database, tokens, usage };
}

export async function startApp(t: Teardown, settings: AppSettings = {}): Promise<App> {
  const config = parseConfig({
    UNDERTONE_WORKERS: '1',
    UNDERTONE_PORT: '0',
    UNDERTONE_METRICS_ADDRESS: 'public',
    UNDERTONE_DEADLINE_S: '600',
    ...settings.env,
  });
  const log: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => log.push(line) });
  const lifecycle = createLifecycle();
  const metrics = createMetrics();
  const loaded = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const pool = createPool({
    workers: config.workers,
    queue: config.queue,
    settings: { modelsDir: '', limits: config.limits, ...(settings.wait === false ? { loaded } : {}) },
    file,
  });
  const load = () => {
    Atomics.store(loaded, 0, 1);
    Atomics.notify(loaded, 0);
  };
  const pages = settings.pages ?? { documents: new Map(), assets: new Map(), trust: '', docs: '', guide: '' };
  const { jobs = null, rateLimiters = null } = settings;
  const { accounts, usage } = settings.accounts ?? (await openAccounts(t, config));
  const receiptKeys = await loadOrCreateKeys(join(makeFolder(), 'keys.json'));
  const tokens = { ...verifier, ...settings.verifier };
  const stored = { tokens, usage, rateLimiters };
  const collaborators = { config, pool, metrics, logger, lifecycle, manifests: [], ...stored };
  const streams = createStreams({ ...collaborators, secret });
  const app = createApp({
    ...collaborators,
    accounts,
    pages,
    streams,
    receiptKeys,
    jobs,
    embeddedWorker: null,
    traceExport: null,
  });
  const server = createHttpServer(app.callback(), { seconds: config.deadlineSeconds });
  const url = await server.listen(config);
  t.teardown(async () => {
    streams.sessions.abort();
    server.destroy();
    load();
    await pool.close();
  });
  if (settings.wait !== false) await pool.started;
  const metric = async (name: string) => {
    const line = (await metrics.text()).split('\n').find((text) => text.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1));
  };
  return {
    port: Number(new URL(url).port),
    config,
    pool,
    lifecycle,
    metrics,
    streams,
    server,
    log,
    load,
    metric,
  };
}

export const untilMetric = (app: App, name: string, value: number): Promise<void> =>
  until(async () => (await app.metric(name)) === value);

/** Method, path, headers and body of an analysis with a task for thread.ts. */
export function analysis(order: ThreadTask, token: string = tokens.full) {
  return {
    method: 'POST',
    path: '/v1/analyze/emotion',
    headers: { 'Content-Type': contentType, Authorization: `Bearer ${token}`, 'X-Request-Id': 'id-1' },
    body: JSON.stringify(order),
  } as const;
}

/** The head of an analysis as it goes over the wire, without the empty line. */
export function rawHead(...lines: readonly string[]): string {
  const all = [
    'POST /v1/analyze/emotion HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${tokens.full}`,
    'X-Request-Id: id-1',
    `Content-Type: multipart/form-data; boundary=${boundary}`,
    ...lines,
  ];
  return all.map((line) => `${line}\r\n`).join('');
}
