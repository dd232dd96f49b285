import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { multipart } from '../../../benchmarks/upload-body.ts';
import { toTraceContext } from '../../../src/service/http/trace-context.ts';
import { startApp } from '../../support/app.ts';
import { call } from '../../support/http.ts';
import { listen } from '../../support/listening.ts';
import { startServer } from '../../support/server.ts';
import { share } from '../../support/share.ts';

const shared = share(test, startApp);

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const sampled = `00-${traceId}-${parentId}-01`;

test('a valid traceparent is continued, any other starts a trace', (t) => {
  t.like(toTraceContext(sampled, false), { traceId, parentSpanId: parentId, sampled: true });
  t.false(toTraceContext(`00-${traceId}-${parentId}-00`, true).sampled);
  t.is(toTraceContext(`cc-${traceId}-${parentId}-01-of-later`, true).traceId, traceId);
  for (const wrong of [
    '',
    `00-${'0'.repeat(32)}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${parentId}-01-more`,
    `ff-${traceId}-${parentId}-01`,
    sampled.toUpperCase(),
  ]) {
    const started = toTraceContext(wrong, true);
    t.like(started, { parentSpanId: null, sampled: true });
    t.regex(started.traceId, /^[0-9a-f]{32}$/);
    t.not(started.traceId, traceId);
  }
});

test('the response has the trace of the request, with a span of its own', async (t) => {
  const { port } = shared();
  const ask = async (traceparent?: string) =>
    String(
      (await call(port, { path: '/health', headers: traceparent ? { traceparent } : {} })).headers
        .traceparent,
    );
  const answered = await ask(sampled);
  t.regex(answered, new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  t.false(answered.includes(parentId));
  t.regex(await ask(), /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
});

test('log lines have the id of the trace of the caller', async (t) => {
  const { port, log } = shared();
  const ids = async (headers: Readonly<Record<string, string>>) => {
    await call(port, { path: '/v1/nothing', headers });
    const lines = log.map((line) => JSON.parse(line));
    return lines.filter(({ msg }) => msg === 'request').at(-1).trace_id;
  };
  t.is(await ids({ traceparent: sampled }), traceId);
  t.is(await ids({ traceparent: `00-${traceId}-${parentId}-00` }), traceId);
  t.is(await ids({}), undefined);
});

type Span = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
};

test.serial('spans of the request, its queue and each model are exported', async (t) => {
  const spans: Span[] = [];
  const collector = await listen(t, async (request, response) => {
    const { resourceSpans } = JSON.parse(await text(request));
    for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  const server = await startServer(t, { UNDERTONE_OTLP_URL: `http://127.0.0.1:${collector}/v1/traces` });
  const form = multipart([{ name: 'audio', bytes: readFileSync('examples/sample.wav') }]);
  const contentType = `multipart/form-data; boundary=${/^--([^\r]+)/.exec(form.toString('latin1'))?.[1]}`;
  const headers = {
    Authorization: `Bearer ${server.token}`,
    'Content-Type': contentType,
    traceparent: sampled,
  };
  const reply = await call(server.port, { method: 'POST', path: '/v1/analyze', headers, body: form });
  t.is(reply.status, 200, reply.body);
  await call(server.port, { path: '/v1/models', headers: { traceparent: `00-${traceId}-${parentId}-00` } });
  for (const path of ['/health', '/ready'])
    await call(server.port, { path, headers: { traceparent: sampled } });
  await server.stop('SIGTERM');
  const [root] = spans.filter(({ name }) => name === 'POST /v1/analyze');
  t.like(root, { traceId, parentSpanId: parentId, spanId: String(reply.headers.traceparent).split('-')[2] });
  const stages = spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId);
  const names = stages.map(({ name }) => name);
  for (const name of ['queue', 'decode', 'features', 'vad', 'trunk', 'emotion', 'cognitive'])
    t.true(names.includes(name), name);
  t.is(spans.length, stages.length + 1);
  for (const { startTimeUnixNano, endTimeUnixNano, name } of stages) {
    t.true(BigInt(startTimeUnixNano) >= BigInt(root?.startTimeUnixNano ?? 0), name);
    t.true(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano), name);
  }
});

test('OpenTelemetry is in one module, which is loaded on demand alone', (t) => {
  const service = readFileSync('src/service/index.ts', 'utf8');
  t.regex(service, /await import\('\.\/traces\.ts'\)/);
  for (const file of [
    'src/service/serve.ts',
    'src/service/index.ts',
    'src/service/http/app.ts',
    'src/service/http/context.ts',
  ]) {
    const imports = readFileSync(file, 'utf8').match(/^import (?!type).*(traces\.ts|@opentelemetry).*$/gm);
    t.is(imports, null, file);
  }
});
