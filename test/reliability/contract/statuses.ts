/** Requests for every documented status of every operation. */

import { postgres } from '../../../deploy/fleet/postgres.ts';
import { createTokenSecret } from '../../../src/service/auth/token-format.ts';
import { sharedReceiptKeys } from '../../support/receipt-keys.ts';
import { makeToken } from '../../support/server.ts';
import { preload } from '../support/preload.ts';
import { type Server, withRedis, withServer } from '../support/service.ts';
import { askAccount, bodies } from './account-statuses.ts';
import {
  type Asked,
  analysisOperations,
  ask,
  askRaw,
  embedOperation,
  isAccount,
  type ResponseListener,
  upload,
} from './asking.ts';
import { askJobs, jobOperations } from './job-statuses.ts';
import { createAccountClient, operationOf, password } from './visitor.ts';

const embeddings = { UNDERTONE_EMBEDDINGS: 'on' };
const open = { UNDERTONE_SIGNUP: 'open', ...embeddings };
const limited = {
  UNDERTONE_RATE_LIMIT: '1/3600',
  UNDERTONE_METRICS_ADDRESS: '127.0.0.1:0',
  ...embeddings,
};
const impatient = { UNDERTONE_DEADLINE_S: '1' };

/** `operations`: METHOD /path of all. */
export async function exerciseStatuses(
  operations: readonly string[],
  onResponse: ResponseListener,
): Promise<void> {
  const account = operations.filter(isAccount);
  await withServer({ ...preload('throwing-host'), ...open }, async (server) => {
    for (const operation of operations) await askBroken(server, operation, onResponse);
    for (const operation of analysisOperations) await askAnalysis(server, operation, onResponse);
    for (const operation of jobOperations) await askScoped(server, operation, onResponse);
    await askStreamTokens(server, onResponse);
    await askUsage(server, onResponse);
    for (const operation of operations.filter((one) => one.startsWith('GET ') && !isAccount(one)))
      await ask(server.port, onResponse, { operation });
    await askAccount(server, onResponse);
  });
  await withServer({}, async (server) => {
    await ask(server.port, onResponse, upload(embedOperation, tokenFor(server, embedOperation)));
  });
  await withServer({ ...limited, ...impatient }, (server) => askImpatient(server, operations, onResponse));
  const database = postgres();
  const shared = { UNDERTONE_DATABASE_URL: await database.makeUrl(), ...(await sharedReceiptKeys()) };
  const own = { ...shared, UNDERTONE_GRACE_S: '10' };
  await withRedis((redis) =>
    withServer(
      { ...own, ...open, UNDERTONE_REDIS_URL: redis.url, UNDERTONE_JOB_WORKERS: '0' },
      async (server) => {
        await askJobs(server, redis, onResponse);
        await askEnding(server, account, onResponse, database.stop);
      },
    ),
  );
  database.start();
}

/** 400, 415, 421, 431, 500 and 501, before any operation runs. */
async function askBroken(
  { port, url, token }: Server,
  operation: string,
  onResponse: ResponseListener,
): Promise<void> {
  await askRaw(port, onResponse, operation, 'Connection: close\r\n\r\n');
  await askRaw(port, onResponse, operation, `Host: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  const coded = (lines: string) =>
    askRaw(port, onResponse, operation, `Host: x\r\nConnection: close\r\n${lines}\r\n\r\n`);
  await coded('Content-Encoding: gzip');
  await coded('Transfer-Encoding: gzip, chunked\r\n\r\n0');
  if (isAccount(operation)) await ask(port, onResponse, { operation, headers: { Host: 'rebound.example' } });
  const headers = { Origin: url, 'X-Fault': '1' };
  await ask(
    port,
    onResponse,
    isAccount(operation) ? { operation, headers } : upload(operation, token, { headers }),
  );
}

let made = 0;

function tokenFor(server: Server, operation: string): string {
  return operation === embedOperation ? makeToken(server, 'embed', `embed ${made++}`) : server.token;
}

/** 401, 403 and the response to a valid request: 501 for jobs, which are not configured. */
async function askScoped(server: Server, operation: string, onResponse: ResponseListener): Promise<void> {
  const { port } = server;
  const token = tokenFor(server, operation);
  const other = operation.endsWith('emotion') ? 'analyze:cognitive' : 'analyze:emotion';
  await ask(port, onResponse, upload(operation, token));
  await ask(port, onResponse, upload(operation, 'a-token-of-nobody-at-all'));
  await ask(
    port,
    onResponse,
    upload(operation, makeToken(server, other, `not for ${operation.replace(/\W/g, '')}`)),
  );
}

/** As `askScoped`, and 413 and 422. */
async function askAnalysis(server: Server, operation: string, onResponse: ResponseListener): Promise<void> {
  const { port } = server;
  const token = tokenFor(server, operation);
  await askScoped(server, operation, onResponse);
  await ask(port, onResponse, upload(operation, token, { body: 'no multipart at all' }));
  await askRaw(
    port,
    onResponse,
    operation,
    `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 99999999\r\n\r\n`,
  );
}

const streamTokens = 'POST /v1/stream/tokens';

function requestStreamToken(token: string, body: object): Asked {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return { operation: streamTokens, headers, body: JSON.stringify(body) };
}

/** 200, 401, 403, 413 and 422. */
async function askStreamTokens(server: Server, onResponse: ResponseListener): Promise<void> {
  const { port, token } = server;
  const narrow = makeToken(server, 'analyze:emotion', 'narrow');
  for (const asked of [
    requestStreamToken(token, {}),
    requestStreamToken('a-token-of-nobody-at-all', {}),
    requestStreamToken(narrow, { scopes: ['analyze:cognitive'] }),
    requestStreamToken(token, { scopes: ['x'.repeat(2000)] }),
    requestStreamToken(token, { other: 1 }),
  ]) {
    await ask(port, onResponse, asked);
  }
}

const usage = 'GET /v1/usage';
const usageOf = (token: string): Asked => ({
  operation: usage,
  headers: { Authorization: `Bearer ${token}` },
});

/** 200 and 401. */
async function askUsage({ port, token }: Server, onResponse: ResponseListener): Promise<void> {
  for (const asked of [usageOf(token), usageOf('a-token-of-nobody-at-all')])
    await ask(port, onResponse, asked);
}

/** 429 with a token, 404 for metrics on another address, 408 for everything. */
async function askImpatient(server: Server, operations: readonly string[], onResponse: ResponseListener) {
  const { port, token } = server;
  const embedToken = tokenFor(server, embedOperation);
  const slow = operations.map((operation) =>
    askRaw(port, onResponse, operation, 'Host: x\r\nX-Unfinished: '),
  );
  for (const operation of [...analysisOperations, ...jobOperations, analysisOperations[0] as string])
    await ask(port, onResponse, upload(operation, token));
  for (let times = 0; times < 2; times++) await ask(port, onResponse, upload(embedOperation, embedToken));
  await ask(port, onResponse, requestStreamToken(token, {}));
  await ask(port, onResponse, usageOf(token));
  await ask(port, onResponse, { operation: 'GET /metrics' });
  await Promise.all(slow);
}

/** 503: without its database, and during shutdown. */
async function askEnding(
  server: Server,
  account: readonly string[],
  onResponse: ResponseListener,
  endDatabase: () => void,
): Promise<void> {
  const accountClient = createAccountClient(server, onResponse);
  await accountClient.ask(operationOf('POST', 'sign-up'), { email: 'ada@home.example', password });
  endDatabase();
  for (const operation of account) await accountClient.ask(operation, bodies[operation]);
  for (const operation of analysisOperations)
    await ask(server.port, onResponse, upload(operation, createTokenSecret()));
  await ask(server.port, onResponse, requestStreamToken(createTokenSecret(), {}));
  await ask(server.port, onResponse, usageOf(createTokenSecret()));
  server.process.kill('SIGTERM');
  await server.logged(/"msg":"stopping"/);
  await ask(server.port, onResponse, { operation: 'GET /ready' });
}
