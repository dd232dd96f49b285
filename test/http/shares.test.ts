/** One account that exceeds its share, in parallel with one that does not. */
import test from 'ava';
import { createLifecycle, readinessError } from '../../src/service/lifecycle.ts';
import { startAccountApp } from '../support/account.ts';
import { type App, analysis, rawHead, startApp, tokens } from '../support/app.ts';
import { call, type Reply, wire } from '../support/http.ts';
import { createGate, until } from '../support/wait.ts';

const other = tokens.emotion;
const refusedSoFar = 'undertone_requests_total{route="/v1/analyze/emotion",method="POST",status="503"}';

const untilFigure = (app: App, name: string, reached: (value: number) => boolean): Promise<void> =>
  until(async () => reached(await app.metric(name)));

const isRefused = ({ status, headers, body }: Reply) =>
  status === 503 && headers['retry-after'] === '1' && JSON.parse(body).code === 'overloaded';

test.serial('a queue filled by one account accepts analyses of another', async (t) => {
  const app = await startApp(t, { env: { UNDERTONE_QUEUE: '4' } });
  const first = await wire(app.port);
  const work = JSON.stringify(createGate().task);
  first.socket.write(`${rawHead(`Content-Length: ${work.length}`)}\r\n${work}`);
  await untilFigure(app, 'undertone_workers_busy', (value) => value === 1);
  const flood = Array.from({ length: 12 }, () => call(app.port, analysis({ do: 'echo' })));
  await untilFigure(app, refusedSoFar, (value) => value === 8);
  t.is(await app.metric('undertone_queue_length'), 4);
  const mine = call(app.port, analysis({ do: 'echo' }, other));
  await untilFigure(app, 'undertone_queue_displaced_total', (value) => value === 1);
  t.is((await call(app.port, { path: '/ready' })).status, 200);
  t.is(app.pool.fullForMs(), 0);
  first.socket.destroy();
  t.is((await mine).status, 200);
  const replies = await Promise.all(flood);
  t.is(replies.filter(({ status }) => status === 200).length, 3);
  t.is(replies.filter(isRefused).length, 9);
});

test.serial('memory filled by one account accepts bodies of another', async (t) => {
  const limits = { UNDERTONE_BUFFER_BYTES: '1000000', UNDERTONE_MAX_UPLOAD_BYTES: '400000' };
  const app = await startApp(t, { env: limits });
  const clients = await Promise.all(Array.from({ length: 9 }, () => wire(app.port)));
  t.teardown(() => {
    for (const { socket } of clients) socket.destroy();
  });
  // Bodies beyond the share are refused by their bytes, not by their headers.
  for (const { socket } of clients) socket.write(`${rawHead('Transfer-Encoding: chunked')}\r\n`);
  for (const { socket } of clients) socket.write(`186a0\r\n${'x'.repeat(100_000)}\r\n`);
  await untilFigure(app, 'undertone_held_bytes', (value) => value >= 700_000);
  const refused = await Promise.race(clients.map((client) => client.until(/"overloaded"/)));
  t.regex(refused, /^HTTP\/1\.1 503 /);
  t.true((await app.metric('undertone_held_bytes')) <= 750_000);
  const large = {
    ...analysis({ do: 'echo' }, other),
    body: JSON.stringify({ do: 'echo', x: 'x'.repeat(150_000) }),
  };
  t.is((await call(app.port, large)).status, 200);
  const token = { Authorization: `Bearer ${tokens.full}` };
  t.true(isRefused(await call(app.port, { ...large, headers: { ...large.headers, ...token } })));
  t.is((await call(app.port, { path: '/ready' })).status, 200);
});

test.serial('log-ins and tokens work while analyses have no memory', async (t) => {
  const limits = { UNDERTONE_BUFFER_BYTES: '4', UNDERTONE_MAX_UPLOAD_BYTES: '3' };
  const { browser } = await startAccountApp(t, { env: limits });
  const visitor = browser();
  t.is((await visitor.signUp('somebody@example.org')).status, 200);
  const created = await visitor.ask('tokens', { name: 'one', scopes: ['analyze:emotion'] });
  t.is(created.status, 200, created.body);
});

test('the service is unready once it has refused every account for 5 s', (t) => {
  const after = (fullForMs: number) =>
    readinessError(createLifecycle(), { warm: () => true, fullForMs: () => fullForMs });
  t.is(after(4999), null);
  t.like(after(5000), { code: 'overloaded' });
});
