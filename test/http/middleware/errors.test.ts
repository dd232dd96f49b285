/** Every row of the table of errors, byte for byte. */
import test, { type ExecutionContext } from 'ava';
import { ServiceError } from '../../../src/service/errors.ts';
import { type AppSettings, analysis, rawHead, startApp, tokens, untilMetric } from '../../support/app.ts';
import { type Call, call, type Reply, wire } from '../../support/http.ts';
import { share } from '../../support/share.ts';
import { createGate, until } from '../../support/wait.ts';

const shared = share(test, startApp);

/** The name of a row begins with its status. */
type Row = readonly [call: Call, body: string, headers?: Headers, settings?: AppSettings];
type Headers = Readonly<Record<string, string>>;

const id = { 'X-Request-Id': 'id-1' };
const echo = analysis({ do: 'echo' });
const { Authorization: _, ...anonymous } = echo.headers;
const withHeaders = (headers: Headers): Call => ({ ...echo, headers: { ...echo.headers, ...headers } });
const get = (path: string): Call => ({ path, headers: id });
const plain = (code: string, detail: string) => JSON.stringify({ detail, code, request_id: 'id-1' });
const listed = (type: string, msg: string) =>
  JSON.stringify({ detail: [{ loc: ['body', 'audio'], msg, type }], request_id: 'id-1' });
const unauthenticated = (got: string) =>
  plain('unauthenticated', `Expected a Bearer token for \`Authorization\`, got ${got}`);
const challenge = { 'www-authenticate': 'Bearer' };
const later = { 'retry-after': '1' };

const known =
  '/v1/analyze/emotion, /v1/analyze/cognitive, /v1/analyze, /v1/embed, /v1/jobs, /v1/usage, /v1/stream, /v1/stream/tokens, /v1/models';
const unknownPath = (got: string) =>
  plain('not_found', `Expected ${known}, or another path that /openapi.json lists for \`path\`, got ${got}`);
const memoryRow = '503 when bodies hold too much';

const tooLarge = listed(
  'value_error.audio.too_large',
  'Expected at most 1000 bytes for `body`, got more: UNDERTONE_MAX_UPLOAD_BYTES sets the limit, and POST /v1/jobs takes up to 267386880 bytes',
);
const small = { UNDERTONE_MAX_UPLOAD_BYTES: '1000' };
const unavailable = async () => {
  throw new ServiceError('storage_unavailable', 'The database is unavailable');
};

const rows: Readonly<Record<string, Row>> = {
  '401 without a token': [{ ...echo, headers: anonymous }, unauthenticated('nothing'), challenge],
  '401 for another scheme': [
    withHeaders({ Authorization: 'Basic dXNlcjpwYXNz' }),
    unauthenticated('something else'),
    challenge,
  ],
  '401 for a token with a space': [
    withHeaders({ Authorization: 'Bearer a b' }),
    unauthenticated('something else'),
    challenge,
  ],
  '401 for an unknown token': [
    analysis({ do: 'echo' }, 'token-of-nobody'),
    unauthenticated('one that is unknown, expired or revoked'),
    challenge,
  ],
  '403 for one of two scopes missing': [
    { ...analysis({ do: 'echo' }, tokens.emotion), path: '/v1/analyze' },
    plain('forbidden', 'Expected scope analyze:cognitive for `Authorization`, got a token without it'),
  ],
  '404 for an unknown path': [get('/v1/nothing?x=1'), unknownPath('/v1/nothing')],
  '404 for another spelling of a path': [get('/Health/'), unknownPath('/Health/; did you mean /health?')],
  '405 for GET on an analysis': [
    get('/v1/analyze/emotion'),
    plain('method_not_allowed', 'Expected POST for `method`, got GET'),
    { allow: 'POST' },
  ],
  '405 for OPTIONS': [
    { ...get('/health'), method: 'OPTIONS' },
    plain('method_not_allowed', 'Expected GET or HEAD for `method`, got OPTIONS'),
    { allow: 'GET, HEAD' },
  ],
  '413 by Content-Length': [{ ...echo, body: 'x'.repeat(1001) }, tooLarge, {}, { env: small }],
  '413 as the bytes pass the limit': [
    { ...withHeaders({ 'Transfer-Encoding': 'chunked' }), body: 'x'.repeat(1001) },
    tooLarge,
    {},
    { env: small },
  ],
  '422 for a body that is not multipart': [
    withHeaders({ 'Content-Type': 'application/json' }),
    listed(
      'value_error.missing',
      'field required: expected a recording in the part `audio` of a form (multipart/form-data), got JSON (application/json). Send the file as a form: curl -F audio=@recording.wav',
    ),
  ],
  '422 for multipart without a boundary': [
    withHeaders({ 'Content-Type': 'multipart/form-data' }),
    listed(
      'value_error.multipart',
      'Expected a boundary of 1 to 70 printable characters that does not end in a space for `body`, got none',
    ),
  ],
  '422 from a thread': [analysis({ do: 'refuse' }), listed('value_error.audio.malformed', 'no')],
  '500 without its cause': [analysis({ do: 'fault' }), plain('internal', 'Internal error')],
  '500 for an error that no handler of the thread caught': [
    analysis({ do: 'reject' }),
    plain('internal', 'Internal error'),
  ],
  '503 for a lost worker': [
    analysis({ do: 'exit' }),
    plain('worker_lost', 'The worker of this request ended unexpectedly'),
    later,
  ],
  '503 past the deadline': [
    analysis(createGate().task),
    plain('deadline', 'The request exceeded its deadline'),
    later,
    { env: { UNDERTONE_DEADLINE_S: '1' } },
  ],
  [memoryRow]: [
    { ...echo, body: 'x'.repeat(900) },
    plain('overloaded', "The account's share of the memory for request bodies is used up"),
    later,
    { env: { ...small, UNDERTONE_BUFFER_BYTES: '1334' } },
  ],
  '503 before the models are loaded': [
    echo,
    plain('not_ready', 'The models are still loading'),
    later,
    { wait: false },
  ],
  '503 when tokens cannot be looked up': [
    echo,
    plain('storage_unavailable', 'The database is unavailable'),
    later,
    { verifier: { verify: unavailable } },
  ],
};

function check(t: ExecutionContext, reply: Reply, [, body, headers = {}]: Row, status: number): void {
  t.is(reply.body, body);
  t.is(reply.status, status);
  t.is(reply.headers['content-type'], 'application/json');
  t.is(reply.headers['content-length'], String(Buffer.byteLength(body)));
  t.is(reply.headers['x-request-id'], 'id-1');
  t.is(reply.headers['x-content-type-options'], 'nosniff');
  for (const name of ['www-authenticate', 'retry-after', 'allow'])
    t.is(reply.headers[name], headers[name], name);
}

for (const [name, row] of Object.entries(rows)) {
  test.serial(name, async (t) => {
    const [asked, , , settings] = row;
    const app = settings === undefined ? shared() : await startApp(t, settings);
    if (name === memoryRow) {
      const other = await wire(app.port);
      other.socket.write(`${rawHead('Content-Length: 900')}\r\n${'x'.repeat(500)}`);
      await untilMetric(app, 'undertone_held_bytes', 500);
    }
    check(t, await call(app.port, asked), row, Number(name.slice(0, 3)));
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
    plain('shutting_down', 'The service is shutting down'),
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
    t.is(reply.body, plain('shutting_down', 'The service is shutting down'));
    t.is(reply.headers.connection, 'close');
  }
  t.is((await call(app.port, { path: '/health' })).body, '{}');
});

test.serial(
  'a 404 suggests the path that is meant, and shows no more than a part of a long one',
  async (t) => {
    const app = shared();
    const detail = async (path: string) => JSON.parse((await call(app.port, { path })).body).detail as string;
    t.regex(await detail('/v1/analyse?x=1'), /, got \/v1\/analyse; did you mean \/v1\/analyze\?$/);
    t.regex(await detail(`/${'x'.repeat(9000)}`), /, got \/x{59}\.\.\.$/);
  },
);

test.serial('the cause of an internal error is only logged', async (t) => {
  const app = shared();
  await call(app.port, analysis({ do: 'fault' }));
  t.regex(app.log.join(''), /a secret cause/);
  await call(app.port, analysis({ do: 'reject' }));
  t.regex(app.log.join(''), /TypeError: not a function\\n +at obey/);
  t.false(app.log.join('').includes(tokens.full));
});
