import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readPages } from '../../../src/service/http/routes/pages.ts';
import { startApp } from '../../support/app.ts';
import { makeFolder } from '../../support/folder.ts';
import { call } from '../../support/http.ts';

function build(files: Readonly<Record<string, string>> = {}): string {
  const folder = makeFolder();
  for (const name of ['account', 'assets', 'trust', 'docs']) mkdirSync(join(folder, name));
  const all = {
    'index.html': '<link nonce="CSP_NONCE"><meta nonce="CSP_NONCE">',
    'account/index.html': 'account',
    'trust/index.html': '<main><!-- content --></main>',
    'docs/index.html': '<main><!-- content --></main>',
    'assets/main-1a.js': 'export {};',
    'assets/main-1a.css': 'body {}',
    ...files,
  };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text);
  return folder;
}

const start = async (t: ExecutionContext) => startApp(t, { pages: await readPages(build()), wait: false });

test('each response of a page has a strict policy and a new nonce', async (t) => {
  const { port } = await start(t);
  const first = await call(port, { path: '/' });
  const nonce = /^<link nonce="([A-Za-z0-9+/]{22}==)"><meta nonce="\1">$/.exec(first.body)?.[1];
  t.is(first.status, 200);
  t.is(first.headers['content-type'], 'text/html; charset=utf-8');
  t.is(first.headers['cache-control'], 'no-store');
  t.is(
    first.headers['content-security-policy'],
    `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self'; ` +
      "connect-src 'self'; media-src blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  t.not((await call(port, { path: '/' })).body, first.body);
});

test('the account page exists, and nothing below it', async (t) => {
  const { port } = await start(t);
  t.is((await call(port, { path: '/account' })).body, 'account');
  t.is((await call(port, { path: '/account/' })).status, 404);
});

test('assets have a type, are immutable, and respond 304', async (t) => {
  const { port } = await start(t);
  const script = await call(port, { path: '/assets/main-1a.js' });
  t.is(script.body, 'export {};');
  t.is(script.headers['content-type'], 'text/javascript; charset=utf-8');
  t.is(script.headers['cache-control'], 'public, max-age=31536000, immutable');
  const tag = String(script.headers.etag);
  const again = await call(port, { path: '/assets/main-1a.js', headers: { 'If-None-Match': tag } });
  t.deepEqual([again.status, again.body], [304, '']);
  const style = await call(port, { path: '/assets/main-1a.css', headers: { 'If-None-Match': tag } });
  t.deepEqual([style.status, style.headers['content-type']], [200, 'text/css; charset=utf-8']);
});

for (const path of [
  '/assets/main-2b.js',
  '/assets/..%2findex.html',
  '/assets/',
  '/index.html',
  '/assets/__proto__',
]) {
  test(`404 for ${path}`, async (t) => {
    const { port } = await start(t);
    const { status, body } = await call(port, { path });
    t.deepEqual([status, JSON.parse(body).code], [404, 'not_found']);
  });
}

test('a file of unknown type fails the start', async (t) => {
  await t.throwsAsync(readPages(build({ 'assets/font-3c.woff': '' })), {
    message: /^Expected one of \.css, \.js, \.svg, \.wav, got .*font-3c\.woff$/,
  });
});
