import test from 'ava';
import { createMetrics } from '../../src/service/http/metrics.ts';
import { analysis, startApp, tokens } from '../support/app.ts';
import { call } from '../support/http.ts';
import { share } from '../support/share.ts';

const shared = share(test, startApp);

test.serial('an analysis responds with the bytes of its thread and the time of each stage', async (t) => {
  const app = shared();
  const reply = await call(app.port, analysis({ do: 'echo' }));
  t.is(reply.status, 200);
  t.regex(reply.body, /^\{"request_id":"id-1","flag":0,"thread":\d+\}$/);
  t.is(reply.headers['content-type'], 'application/json');
  t.is(reply.headers['content-length'], String(reply.body.length));
  t.is(reply.headers['x-request-id'], 'id-1');
  t.regex(
    String(reply.headers['server-timing']),
    /^upload;dur=\d+\.\d{3}, queue;dur=\d+\.\d{3}, work;dur=1\.000$/,
  );
});

test.serial('the scheme of a token is read in any case', async (t) => {
  const app = shared();
  const asked = analysis({ do: 'echo' });
  for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
    const headers = { ...asked.headers, Authorization: `${scheme} ${tokens.full}` };
    t.is((await call(app.port, { ...asked, headers })).status, 200);
  }
});

test.serial('valid request ids are kept, others are replaced', async (t) => {
  const app = shared();
  const ask = async (id: string) =>
    (await call(app.port, { path: '/health', headers: { 'X-Request-Id': id } })).headers;
  for (const id of ['a', 'A-z_0.9', 'x'.repeat(128)]) t.is((await ask(id))['x-request-id'], id);
  for (const id of ['', 'a b', 'x'.repeat(129), 'a"b', '<x>']) {
    t.regex(String((await ask(id))['x-request-id']), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  }
});

test.serial('health, readiness and models need no token', async (t) => {
  const app = await startApp(t, { wait: false });
  t.is((await call(app.port, { path: '/health' })).body, '{}');
  const early = await call(app.port, { path: '/ready', headers: { 'X-Request-Id': 'id-1' } });
  t.is(early.status, 503);
  t.is(early.body, '{"detail":"The models are still loading","code":"not_ready","request_id":"id-1"}');
  app.load();
  await app.pool.started;
  const ready = await call(app.port, { path: '/ready' });
  t.is(ready.status, 200);
  t.is(ready.body, '{}');
  const models = await call(app.port, { path: '/v1/models' });
  t.is(models.body, '{"models":[]}');
  t.is(models.headers['content-type'], 'application/json');
  const head = await call(app.port, { method: 'HEAD', path: '/health' });
  t.is(head.status, 200);
  t.is(head.body, '');
});

test.serial('HEAD responds like GET without the body, and queries are ignored', async (t) => {
  const app = shared();
  for (const path of ['/health', '/ready', '/v1/models', '/metrics']) {
    const head = await call(app.port, { method: 'HEAD', path });
    t.deepEqual([head.status, head.body], [200, ''], path);
    t.true(Number(head.headers['content-length']) > 0, path);
    t.is((await call(app.port, { path: `${path}?x=%ff` })).status, 200, path);
  }
  const asked = analysis({ do: 'echo' });
  t.is((await call(app.port, { ...asked, path: `${asked.path}?channel=9&x=%ff` })).status, 200);
  const refused = await call(app.port, { method: 'HEAD', path: asked.path });
  t.deepEqual([refused.status, refused.headers.allow, refused.body], [405, 'POST', '']);
});

test.serial('metrics count requests by route and show reserved bytes', async (t) => {
  const app = await startApp(t);
  await call(app.port, analysis({ do: 'echo' }));
  await call(app.port, { path: '/secret-path' });
  const reply = await call(app.port, { path: '/metrics' });
  t.regex(String(reply.headers['content-type']), /^text\/plain; version=0\.0\.4/);
  t.true(
    reply.body.includes('undertone_requests_total{route="/v1/analyze/emotion",method="POST",status="200"} 1'),
  );
  t.true(reply.body.includes('undertone_requests_total{route="other",method="GET",status="404"} 1'));
  t.false(reply.body.includes('secret-path'));
  t.is(await app.metric('undertone_held_bytes'), 0);
  t.is(await app.metric('undertone_ready'), 1);
});

test('times of metrics are in seconds', async (t) => {
  const metrics = createMetrics();
  metrics.record({
    route: '/x',
    method: 'POST',
    status: 200,
    ms: 1500,
    stages: [{ name: 'decode', ms: 250 }],
  });
  metrics.addStreams({ sessions: () => 0, bytes: () => 0 }).step(1500);
  const text = await metrics.text();
  t.true(text.includes('undertone_request_seconds_sum{route="/x"} 1.5\n'));
  t.true(text.includes('undertone_stage_seconds_sum{stage="decode"} 0.25\n'));
  t.true(text.includes('undertone_stream_step_seconds_sum 1.5\n'));
});

test.serial('only the route of a request is logged', async (t) => {
  const app = shared();
  const earlier = app.log.length;
  const asked = analysis({ do: 'echo' });
  await call(app.port, {
    ...asked,
    path: `${asked.path}?secret-query`,
    body: JSON.stringify({ do: 'echo', x: 'secret-audio' }),
  });
  await call(app.port, analysis({ do: 'echo' }, 'secret-token'));
  await call(app.port, { path: '/secret-path' });
  const lines = app.log.slice(earlier);
  t.is(lines.length, 3);
  t.false(/secret|token-with/.test(lines.join('')));
  t.true(lines[0]?.includes('"route":"/v1/analyze/emotion","method":"POST","status":200'));
});

test.serial('a log line has the token, the bytes, the audio and the stages of a request', async (t) => {
  const app = shared();
  const earlier = app.log.length;
  const asked = analysis({ do: 'echo' });
  await call(app.port, asked);
  await call(app.port, analysis({ do: 'echo' }, 'unknown-token'));
  const [analysed, refused] = app.log.slice(earlier).map((line) => JSON.parse(line));
  t.is(analysed.token_id, '1');
  t.is(analysed.bytes, Buffer.byteLength(asked.body ?? ''));
  t.is(analysed.audio_s, 1.5);
  t.true(analysed.stages.upload >= 0);
  t.like(refused, { status: 401, token_id: null, audio_s: 0, stages: {} });
});

test.serial('polled routes are logged at debug level', async (t) => {
  const app = shared();
  const earlier = app.log.length;
  for (const path of ['/health', '/ready', '/metrics', '/v1/models']) await call(app.port, { path });
  const levels = app.log
    .slice(earlier)
    .map((line) => JSON.parse(line))
    .map(({ level, route }) => [route, level]);
  t.deepEqual(levels, [
    ['/health', 20],
    ['/ready', 20],
    ['/metrics', 20],
    ['/v1/models', 30],
  ]);
});
