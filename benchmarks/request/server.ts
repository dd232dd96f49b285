/**
 * A server to be forked: `raw` is node:http that reads the body into memory and answers a line of JSON; any other word is
 * a thread built into the same folder, which the whole service runs on: server.js KIND [WORKERS] [slowed].
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pino from 'pino';
import { createAccounts } from '../../src/service/auth/accounts.ts';
import { scopes } from '../../src/service/auth/token-format.ts';
import { createTokens } from '../../src/service/auth/tokens.ts';
import { createUsageCounts } from '../../src/service/auth/usage.ts';
import { parseConfig } from '../../src/service/config.ts';
import { openDatabase } from '../../src/service/database.ts';
import { createApp } from '../../src/service/http/app.ts';
import { createMetrics } from '../../src/service/http/metrics.ts';
import { createStreams } from '../../src/service/http/routes/live.ts';
import { createHttpServer, type Handler } from '../../src/service/http/server.ts';
import { createLifecycle } from '../../src/service/lifecycle.ts';
import { loadOrCreateKeys } from '../../src/service/receipt-keys.ts';
import { createPool } from '../../src/service/workers/pool.ts';

/** CPU time so far, in microseconds. */
export type Usage = { readonly process: number; readonly mainThread: number };

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  // The first field of schedstat is the time on a CPU in nanoseconds.
  const stat = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8');
  return { process: user + system, mainThread: Number(stat.split(' ')[0]) / 1000 };
}

const [kind, workers = '1', slowdown] = process.argv.slice(2);

async function startApp(thread: string): Promise<number> {
  const config = parseConfig({
    UNDERTONE_PORT: '0',
    UNDERTONE_WORKERS: workers,
    UNDERTONE_DEADLINE_S: '600',
  });
  const { limits, modelsDir } = config;
  const pool = createPool({
    workers: config.workers,
    queue: 8,
    settings: { modelsDir, limits },
    file: fileURLToPath(new URL(`./${thread}.js`, import.meta.url)),
  });
  await pool.started;
  const folder = mkdtempSync(join(tmpdir(), 'undertone-benchmark-'));
  const database = await openDatabase(`file:${join(folder, 'undertone.db')}`);
  const tokens = {
    ...createTokens({ database, staticToken: null }),
    verify: async () => ({ id: '1', name: 'x', owner: null, purpose: null, session: null, scopes }),
  };
  const usage = createUsageCounts(database);
  const secret = 'a secret of the benchmarks, 32 characters or more';
  const logger = pino({ level: 'info', base: null }, pino.destination({ dest: 2, sync: true }));
  const collaborators = {
    config,
    pool,
    tokens,
    usage,
    logger,
    metrics: createMetrics(),
    lifecycle: createLifecycle(),
    manifests: [],
    rateLimiters: null,
  };
  const app = createApp({
    ...collaborators,
    accounts: createAccounts({
      ...collaborators,
      database,
      kind: 'sqlite',
      secret,
      signUp: 'closed',
      secure: false,
    }),
    pages: { documents: new Map(), assets: new Map(), trust: '', docs: '', guide: '' },
    streams: createStreams({ ...collaborators, secret }),
    receiptKeys: await loadOrCreateKeys(join(folder, 'keys.json')),
    jobs: null,
    embeddedWorker: null,
    traceExport: null,
  });
  // The open files outlive their names: the server may be killed.
  rmSync(folder, { recursive: true });
  const handler = slowdown === 'slowed' ? slow(app.callback()) : app.callback();
  const server = createHttpServer(handler, { seconds: config.deadlineSeconds });
  return Number(new URL(await server.listen(config)).port);
}

/** The slowdown that the gate on instruction counts must find. */
function slow(handler: Handler): Handler {
  return (request, response) => {
    for (let copies = 0; copies < 60; copies++) JSON.parse(JSON.stringify(request.headers));
    return handler(request, response);
  };
}

function startRaw(): Promise<number> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ bytes: Buffer.concat(chunks).length }));
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

const port = await (kind === undefined || kind === 'raw' ? startRaw() : startApp(kind));
process.on('message', () => process.send?.({ usage: usage() }));
process.on('disconnect', () => process.exit());
process.send?.({ port });
