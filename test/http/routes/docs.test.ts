/** Documents of the service: pages, API documents, trust. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { version } from '../../../src/node/paths.ts';
import { openApiDocument } from '../../../src/service/api/document.ts';
import type { ExampleResponse } from '../../../src/service/api/operation.ts';
import { errorTable } from '../../../src/service/errors.ts';
import { startApp } from '../../support/app.ts';
import { createContract, type Document, type Schema } from '../../support/contract.ts';
import { closeTo, sendExamples, shortened } from '../../support/example-requests.ts';
import { makeFolder } from '../../support/folder.ts';
import { call } from '../../support/http.ts';
import { makeToken, startServer } from '../../support/server.ts';
import { share } from '../../support/share.ts';

const document = openApiDocument(version) as Document;
const stored: Readonly<Record<string, ExampleResponse>> = JSON.parse(
  readFileSync('src/service/api/examples.json', 'utf8'),
);

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

const server = share(test, startServer);

test('the examples, in the document and the page, are what the service answers', async (t) => {
  const answers = await sendExamples({ ...server(), narrow: makeToken(server(), 'analyze:emotion') });
  closeTo(t, answers, stored, 'run `npm run answers`');
  for (const { request, status, body } of Object.values(stored)) checkAnswer(t, request, status, body);
  const shown = /^```json\n(.*?)^```$/ms.exec(readFileSync('docs/http-api.md', 'utf8'))?.[1] ?? '';
  t.deepEqual(JSON.parse(shown), shortened(stored.emotion?.body));
});

const files = readdirSync('docs', { recursive: true, encoding: 'utf8' });
const names = files.filter((name) => name.endsWith('.md'));

test('every page is served as Markdown, and every link of a page and of llms.txt leads to a page', async (t) => {
  const { port } = await startApp(t);
  const get = async (path: string) => {
    const { status, headers, body } = await call(port, { path });
    return { status, type: headers['content-type'], body };
  };
  const index = await get('/llms.txt');
  t.is(index.type, 'text/plain; charset=utf-8');
  t.regex(index.body, /^# Undertone\n\n> /);
  const listed = [...index.body.matchAll(/^- \[(.+)\]\((.+)\): (.+)$/gm)];
  t.deepEqual(listed.flatMap(([, , path = '']) => path.match(/(?<=^\/docs\/).*/) ?? []).sort(), names.sort());
  for (const [line, , path = '', about = ''] of listed) {
    t.is((await get(path)).status, 200, path);
    t.true(about.length > 15, line);
  }
  for (const name of names) {
    const page = await get(`/docs/${name}`);
    t.deepEqual([page.status, page.type], [200, 'text/markdown; charset=utf-8'], name);
    t.regex(page.body, /^# /);
    for (const [, target = ''] of page.body.matchAll(/\]\(((?!https?:|#)[^)#]*)/g)) {
      t.true(files.includes(posix.join(posix.dirname(name), target)), `${name}: ${target}`);
    }
  }
  t.is((await get('/docs/none.md')).status, 404);
});

test('the bundle serves them too', async (t) => {
  const { port } = server();
  for (const path of ['/llms.txt', ...names.map((name) => `/docs/${name}`)]) {
    t.is((await call(port, { path })).status, 200, path);
  }
});

test('the trust page has the keys of the service; its recordings are immutable', async (t) => {
  const { port } = server();
  const page = await call(port, { path: '/trust' });
  t.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
  t.regex(String(page.headers['content-security-policy']), /^default-src 'none'/);
  t.notRegex(page.body, /<!-- content -->|CSP_NONCE/);
  const { keys } = JSON.parse((await call(port, { path: '/.well-known/undertone-keys.json' })).body);
  t.true(page.body.includes(keys[0].x));
  const [, path = ''] = /data-recording href="([^"]+)"/.exec(page.body) ?? [];
  const recording = await call(port, { path });
  t.deepEqual([recording.status, recording.headers['content-type']], [200, 'audio/flac']);
  t.is(recording.headers['cache-control'], 'public, max-age=31536000, immutable');
  t.is((await call(port, { path: '/trust/other.flac' })).status, 404);
  t.is((await call(port, { path: '/trust/..%2findex.json' })).status, 404);
});
