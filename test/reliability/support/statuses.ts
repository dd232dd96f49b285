/** Requests for every documented status of every operation. */

import { join } from 'node:path';
import { postgres } from '../../../deploy/fleet/postgres.ts';
import { createPlaygroundCodes } from '../../../src/service/auth/playground-codes.ts';
import { createTokenSecret } from '../../../src/service/auth/token-format.ts';
import { createTokens } from '../../../src/service/auth/tokens.ts';
import { openDatabase } from '../../../src/service/database.ts';
import { sharedReceiptKeys } from '../../support/receipt-keys.ts';
import { makeToken } from '../../support/server.ts';
import {
  type AccountClient,
  type Asked,
  analysisOperations,
  ask,
  askRaw,
  createAccountClient,
  embedOperation,
  isAccount,
  operationOf,
  password,
  type ResponseListener,
  upload,
} from './account.ts';
import { preload, type RedisServer, type Server, withRedis, withServer } from './service.ts';

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

// The statuses of jobs' operations.

const begin = 'POST /v1/jobs';
const show = 'GET /v1/jobs/{id}';
const remove = 'DELETE /v1/jobs/{id}';
const list = 'GET /v1/jobs';
const listAfter = 'GET /v1/jobs/after/{id}';
const jobOperations = [begin, show, remove, list, listAfter];

/** One for each kind of invalid list. */
const wrongLists = [{}, { urls: [] }, { urls: [''], channel: -1, callback: 1, more: 1 }, 'x'.repeat(2 ** 18)];

/** 200, 202, 404, 413 and 422 with a queue, 503 without. No worker runs. */
async function askJobs(server: Server, redis: RedisServer, onResponse: ResponseListener): Promise<void> {
  const { port, token } = server;
  const job = upload(begin, token);
  const headers = Object.entries({ Host: 'x', ...job.headers, 'Content-Length': '999999999' });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  await askRaw(port, onResponse, begin, `${lines}\r\n`);
  await ask(port, onResponse, { ...job, body: 'no multipart at all' });
  for (const body of wrongLists) {
    const json = { 'Content-Type': 'application/json' };
    await ask(port, onResponse, upload(begin, token, { headers: json, body: JSON.stringify(body) }));
  }
  for (const operation of [show, remove, listAfter]) await ask(port, onResponse, upload(operation, token));
  const askBegun = async () => {
    const { id } = JSON.parse((await ask(port, onResponse, job)).body);
    const path = `/v1/jobs/${id}`;
    return async () => {
      await ask(port, onResponse, upload(list, token));
      await ask(port, onResponse, upload(listAfter, token, { path: `/v1/jobs/after/${id}` }));
      for (const operation of [show, remove]) await ask(port, onResponse, upload(operation, token, { path }));
    };
  };
  await (await askBegun())();
  // An older pending job: listing after the newer one reads the queue.
  await ask(port, onResponse, job);
  const askWithoutQueue = await askBegun();
  await redis.kill();
  await askWithoutQueue();
  await ask(port, onResponse, job);
}

// The statuses of the account page's operations.

const post = (path: string) => operationOf('POST', path);
const revoke = post('tokens/{id}/revoke');
const credentials = (email: string) => ({ email: `${email}@home.example`, password });
const wrong = { ...credentials('ada'), password: 'not this one at all' };
const wrongPasswords = 11;
const tooManyTokens = 201;
const tooManySignUps = 21;

/** Request bodies by operation. */
const bodies: Readonly<Record<string, object>> = {
  [post('sign-up')]: credentials('ada'),
  [post('log-in')]: credentials('ada'),
  [post('password')]: { current_password: wrong.password, new_password: password },
  [post('remove')]: { password: wrong.password },
  [post('playground-link')]: { code: 'unknown' },
  [post('tokens')]: { name: 'ci', scopes: ['analyze:emotion'], expires_in_days: null },
};

async function askAccount(server: Server, onResponse: ResponseListener): Promise<void> {
  const ada = createAccountClient(server, onResponse);
  await ada.ask(operationOf('GET', 'session'));
  await ada.ask(post('sign-up'), bodies[post('sign-up')]);
  await askAsAda(ada);
  await ada.ask(post('playground-link'), { code: await createCode(server) });
  await refuse(server, onResponse, ada);
  await askTooOften(server, onResponse, ada);
}

async function createCode({ dataDir }: Server): Promise<string> {
  const database = await openDatabase(`file:${join(dataDir, 'undertone.db')}`);
  const tokens = createTokens({ database, staticToken: null });
  return createPlaygroundCodes({ database, tokens })
    .create()
    .finally(() => database.destroy());
}

async function askAsAda(ada: AccountClient): Promise<void> {
  const made = await ada.ask(post('tokens'), bodies[post('tokens')]);
  for (const path of ['tokens', 'usage']) await ada.ask(operationOf('GET', path));
  const path = `/account/api/tokens/${String(made.id)}/revoke`;
  for (const _ of ['done', 'not found']) await ada.ask(revoke, {}, { path });
  await ada.ask(post('playground-token'));
  await ada.ask(post('password'), { current_password: password, new_password: password });
  await ada.ask(post('log-out'));
  await ada.ask(post('log-in'), credentials('ada'));
}

/** 401, 403, 413 and 422. */
async function refuse(server: Server, onResponse: ResponseListener, ada: AccountClient): Promise<void> {
  const nobody = createAccountClient(server, onResponse);
  for (const path of ['tokens', 'usage']) await nobody.ask(operationOf('GET', path));
  for (const operation of [...Object.keys(bodies), revoke, post('playground-token')]) {
    if (operation !== post('sign-up'))
      await nobody.ask(operation, bodies[operation] && { ...bodies[operation], ...wrong });
  }
  const everyPost = [...Object.keys(bodies), revoke, post('playground-token'), post('log-out')];
  for (const operation of everyPost) {
    await ada.ask(operation, {}, { headers: { Origin: 'https://evil.example' } });
    if (bodies[operation] === undefined) continue;
    await ada.ask(operation, { email: 'no address' });
    await ada.ask(operation, JSON.stringify({ x: 'x'.repeat(20_000) }));
  }
}

/** 429, and the end of the account. */
async function askTooOften(server: Server, onResponse: ResponseListener, ada: AccountClient): Promise<void> {
  const bob = createAccountClient(server, onResponse);
  await bob.ask(post('sign-up'), credentials('bob'));
  await bob.ask(post('remove'), { password });
  for (let times = 0; times < wrongPasswords; times++) await bob.ask(post('log-in'), wrong);
  for (const operation of [post('password'), post('remove')]) await ada.ask(operation, bodies[operation]);
  for (let times = 0; times < tooManySignUps; times++) await bob.ask(post('sign-up'), credentials('ada'));
  for (let times = 0; times < tooManyTokens; times++) await ada.ask(post('playground-token'));
  await ada.ask(post('tokens'), bodies[post('tokens')]);
}
