/** Every status of every operation that the document lists, asked of running services. */
import { createTokenSecret } from '../../../src/auth/token-format.ts';
import { postgres } from '../../support/postgres.ts';
import { makeToken } from '../../support/server.ts';
import { plant } from '../plant.ts';
import { withRedis } from '../redis.ts';
import { type Server, withServer } from '../service.ts';
import { askAccount, bodies } from './account-statuses.ts';
import { analysisOperations, ask, askRaw, isAccount, upload, type Witness } from './asking.ts';
import { askJobs, jobOperations } from './job-statuses.ts';
import { operationOf, password, visit } from './visitor.ts';

const limited = { UNDERTONE_RATE_LIMIT: '1/3600', UNDERTONE_METRICS_ADDRESS: '127.0.0.1:0' };
const open = { UNDERTONE_SIGNUP: 'open' };
const impatient = { UNDERTONE_DEADLINE_S: '1' };

/** `operations`: METHOD /path of all. */
export async function askEverything(operations: readonly string[], witness: Witness): Promise<void> {
  const account = operations.filter(isAccount);
  await withServer({ ...plant('fault'), ...open }, async (server) => {
    for (const operation of operations) await askBroken(server, operation, witness);
    for (const operation of analysisOperations) await askAnalysis(server, operation, witness);
    for (const operation of jobOperations) await askScoped(server, operation, witness);
    for (const operation of operations.filter((one) => one.startsWith('GET ') && !isAccount(one)))
      await ask(server.port, witness, { operation });
    await askAccount(server, witness);
  });
  await withServer({ ...limited, ...impatient }, (server) => askImpatient(server, operations, witness));
  const database = postgres();
  const own = { UNDERTONE_DATABASE_URL: await database.makeUrl(), UNDERTONE_GRACE_S: '10' };
  await withRedis((redis) =>
    withServer({ ...own, ...open, UNDERTONE_REDIS_URL: redis.url }, async (server) => {
      await askJobs(server, redis, witness);
      await askEnding(server, account, witness, database.stop);
    }),
  );
  database.start();
}

/** 400, 421, 431 and 500, which come before or below any operation. */
async function askBroken({ port, url, token }: Server, operation: string, witness: Witness): Promise<void> {
  await askRaw(port, witness, operation, 'Connection: close\r\n\r\n');
  await askRaw(port, witness, operation, `Host: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  if (isAccount(operation)) await ask(port, witness, { operation, headers: { Host: 'rebound.example' } });
  const headers = { Origin: url, 'X-Fault': '1' };
  await ask(
    port,
    witness,
    isAccount(operation) ? { operation, headers } : upload(operation, token, { headers }),
  );
}

/** 401, 403, and the answer to a request that is right: of jobs 501, since they are not configured. */
async function askScoped(server: Server, operation: string, witness: Witness): Promise<void> {
  const { port, token } = server;
  const other = operation.endsWith('emotion') ? 'analyze:cognitive' : 'analyze:emotion';
  await ask(port, witness, upload(operation, token));
  await ask(port, witness, upload(operation, 'a-token-of-nobody-at-all'));
  await ask(
    port,
    witness,
    upload(operation, makeToken(server, other, `not for ${operation.replace(/\W/g, '')}`)),
  );
}

/** Those and 413 and 422. */
async function askAnalysis(server: Server, operation: string, witness: Witness): Promise<void> {
  const { port, token } = server;
  await askScoped(server, operation, witness);
  await ask(port, witness, upload(operation, token, { body: 'no multipart at all' }));
  await askRaw(
    port,
    witness,
    operation,
    `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 99999999\r\n\r\n`,
  );
}

/** 429 of what takes a token, 404 of figures that have an address of their own, and 408 of everything. */
async function askImpatient({ port, token }: Server, operations: readonly string[], witness: Witness) {
  const slow = operations.map((operation) => askRaw(port, witness, operation, 'Host: x\r\nX-Unfinished: '));
  for (const operation of [...analysisOperations, ...jobOperations, analysisOperations[0] as string])
    await ask(port, witness, upload(operation, token));
  await ask(port, witness, { operation: 'GET /metrics' });
  await Promise.all(slow);
}

/** 503: a service whose database is gone, and that is being stopped. */
async function askEnding(
  server: Server,
  account: readonly string[],
  witness: Witness,
  endDatabase: () => void,
): Promise<void> {
  const visitor = visit(server, witness);
  await visitor.ask(operationOf('POST', 'sign-up'), { email: 'ada@home.example', password });
  endDatabase();
  for (const operation of account) await visitor.ask(operation, bodies[operation]);
  for (const operation of analysisOperations)
    await ask(server.port, witness, upload(operation, createTokenSecret()));
  server.process.kill('SIGTERM');
  await server.logged(/"msg":"stopping"/);
  await ask(server.port, witness, { operation: 'GET /ready' });
}
