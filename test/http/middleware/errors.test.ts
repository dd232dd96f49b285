/** Every row of the table of errors, byte for byte. */
import test, { type ExecutionContext } from 'ava';
import { ServiceError } from '../../../src/runtime/errors.ts';
import { type AppSettings, analysis, rawHead, startApp, tokens } from '../../support/app.ts';
import { createGate } from '../../support/gate.ts';
import { type Call, call, type Reply, wire } from '../../support/http.ts';
import { until } from '../../support/wait.ts';

type Row = {
  readonly name: string;
  readonly call: Call;
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly settings?: AppSettings;
};

const id = { 'X-Request-Id': 'id-1' };
const echo = analysis({ do: 'echo' });
const without = (...names: string[]) =>
  Object.fromEntries(Object.entries(echo.headers).filter(([name]) => !names.includes(name)));
const plain = (code: string, detail: string) => JSON.stringify({ detail, code, request_id: 'id-1' });
const listed = (type: string, msg: string) =>
  JSON.stringify({ detail: [{ loc: ['body', 'audio'], msg, type }], request_id: 'id-1' });
const unauthenticated = (got: string) =>
  plain('unauthenticated', `Expected a Bearer token for \`Authorization\`, got ${got}`);
const challenge = { 'www-authenticate': 'Bearer' };
const later = { 'retry-after': '1' };
const unknown = 'one that is unknown, expired or revoked';

const rows: readonly Row[] = [
  {
    name: '401 without a token',
    call: { ...echo, headers: without('Authorization') },
    status: 401,
    body: unauthenticated('nothing'),
    headers: challenge,
  },
  {
    name: '401 for another scheme',
    call: { ...echo, headers: { ...echo.headers, Authorization: 'Basic dXNlcjpwYXNz' } },
    status: 401,
    body: unauthenticated('something else'),
    headers: challenge,
  },
  {
    name: '401 for what no token can be',
    call: { ...echo, headers: { ...echo.headers, Authorization: 'Bearer a b' } },
    status: 401,
    body: unauthenticated('something else'),
    headers: challenge,
  },
  {
    name: '401 for an unknown token',
    call: analysis({ do: 'echo' }, 'token-of-nobody'),
    status: 401,
    body: unauthenticated(unknown),
    headers: challenge,
  },
  {
    name: '403 for one scope missing',
    call: { ...analysis({ do: 'echo' }, tokens.emotion), path: '/v1/analyze/cognitive' },
    status: 403,
    body: plain('forbidden', 'Expected scope analyze:cognitive for `Authorization`, got a token without it'),
  },
  {
    name: '403 for one of two scopes missing',
    call: { ...analysis({ do: 'echo' }, tokens.emotion), path: '/v1/analyze' },
    status: 403,
    body: plain('forbidden', 'Expected scope analyze:cognitive for `Authorization`, got a token without it'),
  },
  {
    name: '404 for an unknown path',
    call: { path: '/v1/nothing?x=1', headers: id },
    status: 404,
    body: plain('not_found', 'Expected a path that /openapi.json lists for `path`, got another'),
  },
  {
    name: '404 for another spelling of a path',
    call: { path: '/Health/', headers: id },
    status: 404,
    body: plain('not_found', 'Expected a path that /openapi.json lists for `path`, got another'),
  },
  {
    name: '405 for GET on an analysis',
    call: { path: '/v1/analyze/emotion', headers: id },
    status: 405,
    body: plain('method_not_allowed', 'Expected POST for `method`, got GET'),
    headers: { allow: 'POST' },
  },
  {
    name: '405 for OPTIONS',
    call: { method: 'OPTIONS', path: '/health', headers: id },
    status: 405,
    body: plain('method_not_allowed', 'Expected GET or HEAD for `method`, got OPTIONS'),
    headers: { allow: 'GET, HEAD' },
  },
  {
    name: '405 for a method of few',
    call: { method: 'PURGE', path: '/v1/models', headers: id },
    status: 405,
    body: plain('method_not_allowed', 'Expected GET or HEAD for `method`, got PURGE'),
    headers: { allow: 'GET, HEAD' },
  },
  {
    name: '413 by Content-Length',
    call: { ...echo, body: 'x'.repeat(1001) },
    status: 413,
    body: listed('value_error.audio.too_large', 'Expected at most 1000 bytes for `body`, got more'),
    settings: { env: { UNDERTONE_MAX_UPLOAD_BYTES: '1000' } },
  },
  {
    name: '413 as the bytes pass the limit',
    call: { ...echo, headers: { ...echo.headers, 'Transfer-Encoding': 'chunked' }, body: 'x'.repeat(1001) },
    status: 413,
    body: listed('value_error.audio.too_large', 'Expected at most 1000 bytes for `body`, got more'),
    settings: { env: { UNDERTONE_MAX_UPLOAD_BYTES: '1000' } },
  },
  {
    name: '422 for a body that is not multipart',
    call: { ...echo, headers: { ...echo.headers, 'Content-Type': 'application/json' } },
    status: 422,
    body: listed('value_error.missing', 'field required'),
  },
  {
    name: '422 for no body at all',
    call: { ...echo, headers: without('Content-Type'), body: '' },
    status: 422,
    body: listed('value_error.missing', 'field required'),
  },
  {
    name: '422 for multipart without a boundary',
    call: { ...echo, headers: { ...echo.headers, 'Content-Type': 'multipart/form-data' } },
    status: 422,
    body: listed('value_error.multipart', 'Expected a boundary of 1 to 70 characters for `body`, got 0'),
  },
  {
    name: '422 from a thread',
    call: analysis({ do: 'refuse' }),
    status: 422,
    body: listed('value_error.audio.malformed', 'no'),
  },
  {
    name: '500 without a word of its cause',
    call: analysis({ do: 'fault' }),
    status: 500,
    body: plain('internal', 'Something went wrong on our side'),
  },
  {
    name: '503 for a worker that was lost',
    call: analysis({ do: 'exit' }),
    status: 503,
    body: plain('worker_lost', 'The worker that had this request was lost'),
    headers: later,
  },
  {
    name: '503 past the deadline',
    call: analysis(createGate().task),
    status: 503,
    body: plain('deadline', 'The request took longer than it may'),
    headers: later,
    settings: { env: { UNDERTONE_DEADLINE_S: '1' } },
  },
  {
    name: '503 when bodies hold too much',
    call: { ...echo, body: 'x'.repeat(900) },
    status: 503,
    body: plain('overloaded', "The account's share of the memory for request bodies is used up"),
    headers: later,
    settings: { env: { UNDERTONE_MAX_UPLOAD_BYTES: '1000', UNDERTONE_BUFFER_BYTES: '1334' } },
  },
  {
    name: '503 before the models are loaded',
    call: echo,
    status: 503,
    body: plain('not_ready', 'The models are being loaded'),
    headers: later,
    settings: { wait: false },
  },
  {
    name: '503 when tokens cannot be looked up',
    call: echo,
    status: 503,
    body: plain('storage_unavailable', 'The database cannot be used'),
    headers: later,
    settings: {
      verifier: {
        verify: async () => {
          throw new ServiceError('storage_unavailable', 'The database cannot be used');
        },
      },
    },
  },
];

function check(t: ExecutionContext, reply: Reply, row: Row): void {
  t.is(reply.body, row.body);
  t.is(reply.status, row.status);
  t.is(reply.headers['content-type'], 'application/json');
  t.is(reply.headers['content-length'], String(Buffer.byteLength(row.body)));
  t.is(reply.headers['x-request-id'], 'id-1');
  t.is(reply.headers['x-content-type-options'], 'nosniff');
  for (const [name, value] of Object.entries({ ...row.headers })) t.is(reply.headers[name], value);
  for (const name of ['www-authenticate', 'retry-after', 'allow']) {
    if (row.headers?.[name] === undefined) t.is(reply.headers[name], undefined);
  }
}

for (const row of rows) {
  test.serial(row.name, async (t) => {
    const app = await startApp(t, row.settings);
    if (row.status === 503 && row.body.includes('share of the memory')) {
      const other = await wire(app.port);
      other.socket.write(`${rawHead('Content-Length: 900')}\r\n${'x'.repeat(500)}`);
      await until(async () => (await app.metric('undertone_held_bytes')) === 500);
    }
    check(t, await call(app.port, row.call), row);
  });
}

test.serial('503 when the queue is full, before 100 Continue', async (t) => {
  const app = await startApp(t, { env: { UNDERTONE_QUEUE: '0' } });
  const gate = createGate();
  const working = call(app.port, analysis(gate.task));
  await until(() => app.pool.stats().running > 0);
  const client = await wire(app.port);
  client.socket.write(`${rawHead('Content-Length: 900')}\r\n`);
  const answer = await client.ended();
  t.regex(answer, /^HTTP\/1\.1 503 Service Unavailable\r\n/);
  t.regex(answer, /\r\nRetry-After: 1\r\n/);
  t.true(answer.endsWith(plain('overloaded', 'All workers are busy and the queue is full')));
  gate.open();
  t.is((await working).status, 200);
});

test.serial('during the grace period the service responds but is not ready', async (t) => {
  const app = await startApp(t);
  app.lifecycle.startDraining();
  t.is(
    (await call(app.port, { path: '/ready', headers: id })).body,
    plain('shutting_down', 'The service is being stopped'),
  );
  const reply = await call(app.port, echo);
  t.is(reply.status, 200);
  t.is(reply.headers.connection, 'close');
});

test.serial('503 during shutdown, with Connection: close', async (t) => {
  const app = await startApp(t);
  app.lifecycle.refuseNew();
  for (const asked of [echo, { path: '/ready', headers: id }]) {
    const reply = await call(app.port, asked);
    t.is(reply.status, 503);
    t.is(reply.body, plain('shutting_down', 'The service is being stopped'));
    t.is(reply.headers.connection, 'close');
  }
  t.is((await call(app.port, { path: '/health' })).body, '{}');
});

test.serial('the cause of an internal error is only logged', async (t) => {
  const app = await startApp(t);
  await call(app.port, analysis({ do: 'fault' }));
  t.regex(app.log.join(''), /a secret cause/);
  t.false(app.log.join('').includes(tokens.full));
});
