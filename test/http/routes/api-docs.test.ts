/** The OpenAPI document: valid, complete, and consistent with the running service. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { toneFile } from '../../../benchmarks/upload-body.ts';
import { openApiDocument } from '../../../src/openapi/document.ts';
import { errorTable } from '../../../src/openapi/errors.ts';
import type { ExampleResponse } from '../../../src/openapi/examples.ts';
import { version } from '../../../src/runtime/version.ts';
import { openChromium } from '../../support/chromium.ts';
import { runCli } from '../../support/cli.ts';
import { createContract, type Document, type Schema } from '../../support/contract.ts';
import { sendExamples } from '../../support/example-requests.ts';
import { makeFolder } from '../../support/folder.ts';
import { makeToken, type Server, startServer } from '../../support/server.ts';
import { ceilingMs } from '../../support/wait.ts';

const document = openApiDocument(version) as Document;
const stored: Readonly<Record<string, ExampleResponse>> = JSON.parse(
  readFileSync('src/openapi/examples.json', 'utf8'),
);
const sample = readFileSync('examples/sample.wav');

const contract = createContract(document);

function checkAnswer(t: ExecutionContext, asked: string, status: number, body: unknown): void {
  t.is(contract.fault(asked, status, body), null);
}

test('the linter finds no error', (t) => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const lint = spawnSync(join(process.cwd(), 'node_modules/.bin/redocly'), ['lint', 'openapi.json'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  t.is(lint.status, 0, lint.stdout + lint.stderr);
  t.notRegex(lint.stderr, /[1-9]\d* (error|warning)/);
});

test('every field is described', (t) => {
  const bare: string[] = [];
  const walk = (name: string, schema: Schema) => {
    for (const [field, inner] of Object.entries(schema.properties ?? {})) {
      if (inner.description === undefined && inner.$ref === undefined) bare.push(`${name}.${field}`);
      walk(`${name}.${field}`, inner);
    }
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    if (schema.description === undefined && !name.endsWith('Report')) bare.push(name);
    walk(name, schema);
  }
  t.deepEqual(bare, []);
});

test('numbers say their range or unit', (t) => {
  const silent: string[] = [];
  const walk = (name: string, schema: Schema) => {
    const words = `${schema.description ?? ''}`;
    const bounded = schema.minimum !== undefined && schema.maximum !== undefined;
    if (schema.type === 'number' && !bounded && !/, (s|Hz|dB)\b|unit/.test(words)) silent.push(name);
    for (const [field, inner] of Object.entries(schema.properties ?? {})) walk(`${name}.${field}`, inner);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) walk(name, schema);
  t.deepEqual(silent, []);
});

test('every error is in the document', (t) => {
  const text = JSON.stringify(document);
  for (const code of Object.keys(errorTable)) t.true(text.includes(`\`${code}\``), code);
});

test('undertone openapi prints it', async (t) => {
  const { code, stdout } = await runCli(['openapi']);
  t.is(code, 0);
  t.deepEqual(JSON.parse(stdout), JSON.parse(JSON.stringify(document)));
});

/** Processors may differ in the last digits of a score. */
const tolerance = 0.02;

function closeTo(t: ExecutionContext, got: unknown, want: unknown, where: string): void {
  if (typeof got === 'number' && typeof want === 'number') {
    t.true(Math.abs(got - want) <= tolerance * Math.max(1, Math.abs(want)), `${where}: ${got}, not ${want}`);
  } else if (typeof got === 'object' && got !== null && typeof want === 'object' && want !== null) {
    t.deepEqual(Object.keys(got), Object.keys(want), where);
    for (const [key, value] of Object.entries(got))
      closeTo(t, value, (want as Record<string, unknown>)[key], `${where}.${key}`);
  } else t.is(got, want, where);
}

test.serial('the examples, in the document and in README.md, are what the service answers', async (t) => {
  const server = await startServer(t);
  const answers = await sendExamples({ ...server, narrow: makeToken(server, 'analyze:emotion') });
  closeTo(t, answers, stored, 'run `npm run answers`');
  for (const { asked, status, body } of Object.values(stored)) checkAnswer(t, asked, status, body);
  const shown = /^```json\n(.*?)^```$/ms.exec(readFileSync('README.md', 'utf8'))?.[1] ?? '';
  t.deepEqual(JSON.parse(shown), stored.emotion?.body);
});

const paths = ['/v1/analyze/emotion', '/v1/analyze/cognitive', '/v1/analyze'] as const;

const recordings = fc.oneof(
  fc.constant(sample),
  fc.constant(toneFile(1)),
  fc.nat(sample.length).map((length) => sample.subarray(0, length)),
  fc.tuple(fc.nat(sample.length - 5), fc.uint8Array({ minLength: 4, maxLength: 4 })).map(([at, bytes]) => {
    const damaged = Buffer.from(sample);
    damaged.set(bytes, at);
    return damaged;
  }),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
);

const requests = fc.record({
  path: fc.constantFrom(...paths),
  audio: fc.option(recordings, { freq: 9 }),
  baseline: fc.option(recordings, { freq: 2 }),
  channel: fc.option(fc.constantFrom('0', '1', '-1', 'left', ''), { freq: 1 }),
  type: fc.constantFrom('audio/wav', 'application/octet-stream', '', 'text/plain'),
  known: fc.constantFrom(true, true, true, true, false),
});

test.serial('every answer of the running service fits the document', async (t) => {
  const server = await startServer(t);
  const statuses = new Set<number>();
  const property = fc.asyncProperty(requests, async ({ path, audio, baseline, channel, type, known }) => {
    const form = new FormData();
    for (const [name, bytes] of Object.entries({ audio, baseline })) {
      if (bytes !== null) form.append(name, new Blob([Buffer.from(bytes)], { type }));
    }
    if (channel !== null) form.append('channel', channel);
    const headers = { Authorization: `Bearer ${known ? server.token : 'token-of-nobody-at-all'}` };
    const response = await fetch(server.url + path, { method: 'POST', headers, body: form });
    statuses.add(response.status);
    checkAnswer(t, `POST ${path}`, response.status, await response.json());
  });
  await fc.assert(property, { numRuns: 60, seed: 1 });
  t.deepEqual([...statuses].sort(), [200, 401, 422]);
  await checkPlainPaths(t, server);
});

test.serial('every answer to the account page fits the document', async (t) => {
  const { url } = await startServer(t);
  let cookies = '';
  const ask = async (asked: string, path: string, given?: object): Promise<Record<string, unknown>> => {
    const [method = ''] = asked.split(' ');
    const response = await fetch(url + path, {
      method,
      headers: { Origin: url, Cookie: cookies, 'Content-Type': 'application/json' },
      ...(method === 'POST' ? { body: JSON.stringify(given ?? {}) } : {}),
    });
    const body = (await response.json()) as Record<string, unknown>;
    checkAnswer(t, asked, response.status, body);
    const set = response.headers.getSetCookie().map((line) => line.split(';')[0]);
    if (set.length > 0) cookies = set.join('; ');
    return body;
  };
  const plain = (asked: string, given?: object) => ask(asked, asked.split(' ')[1] ?? '', given);
  const password = 'correct horse battery staple';
  const account = '/account/api';
  t.deepEqual(await plain(`GET ${account}/session`), { user: null, sign_up: 'first' });
  await plain(`GET ${account}/tokens`);
  await plain(`POST ${account}/sign-up`, { email: 'ada' });
  await plain(`POST ${account}/sign-up`, { email: 'ada@example.org', password });
  await plain(`POST ${account}/log-in`, { email: 'ada@example.org', password: 'not this one' });
  await plain(`POST ${account}/tokens`, { name: 'ci', scopes: ['analyze:emotion'], expires_in_days: null });
  await plain(`POST ${account}/tokens`, { name: 'ci', scopes: [] });
  const { tokens } = (await plain(`GET ${account}/tokens`)) as { tokens: { id: string }[] };
  const revoke = `POST ${account}/tokens/{id}/revoke`;
  for (let times = 0; times < 2; times++) await ask(revoke, `${account}/tokens/${tokens[0]?.id}/revoke`);
  await plain(`POST ${account}/playground-token`);
  await plain(`POST ${account}/password`, { current_password: password, new_password: 'short' });
  await plain(`POST ${account}/remove`, { password });
  await plain(`POST ${account}/log-out`);
});

const field = fc.oneof(
  fc.string(),
  fc.emailAddress(),
  fc.integer(),
  fc.constant(null),
  fc.array(fc.string()),
);
const fields = ['email', 'password', 'current_password', 'new_password', 'name', 'scopes', 'expires_in_days'];
const accountRequests = fc.record({
  operation: fc.constantFrom(
    ...[...contract.documented.keys()].filter((operation) => operation.startsWith('POST /account/')),
  ),
  body: fc.oneof(
    fc.json(),
    fc.string(),
    fc.dictionary(fc.constantFrom(...fields), field).map((body) => JSON.stringify(body)),
  ),
  type: fc.constantFrom('application/json', 'application/json', 'application/json', 'text/plain'),
  own: fc.constantFrom(true, true, true, false),
  id: fc.webSegment(),
});

test.serial('whatever is sent to the account page, the answer fits the document', async (t) => {
  const { url } = await startServer(t);
  const statuses = new Set<number>();
  const property = fc.asyncProperty(accountRequests, async ({ operation, body, type, own, id }) => {
    const path = operation.replace('POST ', '').replace('{id}', `x${id}`);
    const headers = { Origin: own ? url : 'https://evil.example', 'Content-Type': type };
    const response = await fetch(url + path, { method: 'POST', headers, body });
    statuses.add(response.status);
    checkAnswer(t, operation, response.status, await response.json());
  });
  await fc.assert(property, { numRuns: 150, seed: 1 });
  for (const status of [400, 401, 403, 422]) t.true(statuses.has(status), String(status));
  t.false(statuses.has(500));
});

async function checkPlainPaths(t: ExecutionContext, { url, port }: Server): Promise<void> {
  for (const path of ['/health', '/ready', '/v1/models', '/openapi.json']) {
    const response = await fetch(url + path);
    t.is(response.status, 200);
    checkAnswer(t, `GET ${path}`, 200, await response.json());
  }
  const missing = await fetch(`${url}/v1/nothing`);
  t.is(missing.status, 404);
  checkAnswer(t, 'GET /metrics', 404, await missing.json());
  const figures = await fetch(`http://127.0.0.1:${port}/metrics`);
  t.regex(figures.headers.get('content-type') ?? '', /^text\/plain/);
}

test.serial('/docs shows it under a policy that nothing violates', async (t) => {
  const server = await startServer(t);
  const browser = await openChromium();
  t.teardown(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
  page.setDefaultTimeout(ceilingMs);
  const troubles: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || /Content Security Policy/.test(message.text()))
      troubles.push(message.text());
  });
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(server.url))
      troubles.push(request.url());
  });
  const response = await page.goto(`${server.url}/docs`);
  const policy = response?.headers()['content-security-policy'] ?? '';
  t.regex(policy, /script-src 'self'; style-src 'self'; img-src 'self' data:;/);
  await page.locator('.opblock').first().waitFor();
  const operations = Object.values(document.paths).flatMap((path) => Object.keys(path));
  t.is(await page.locator('.opblock').count(), operations.length);
  await page.locator('.opblock-summary-control').first().click();
  await page.locator('.opblock-body .responses-table').first().waitFor();
  t.deepEqual(troubles, []);
});
