import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { readManifests } from '../../../src/node/models.ts';
import { modelSets } from '../../../src/node/paths.ts';
import { readExample, readPages } from '../../../src/service/http/routes/pages.ts';
import { startApp } from '../../support/app.ts';
import { closeTo } from '../../support/example-requests.ts';
import { makeFolder } from '../../support/folder.ts';
import { call } from '../../support/http.ts';
import { startServer } from '../../support/server.ts';
import { share } from '../../support/share.ts';
import { words } from '../../support/words.ts';

const quiet = { warn: () => {} };

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

const none = { example: null, sets: null };
const shared = share(test, async (t) => startApp(t, { pages: await readPages(build(), none), wait: false }));

const policyOf = (nonce: string, images: string) =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src ${images}; ` +
  "connect-src 'self'; media-src blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

test('each response of a page has a strict policy and a new nonce', async (t) => {
  const { port } = shared();
  const first = await call(port, { path: '/' });
  const nonce = /^<link nonce="([A-Za-z0-9+/]{22}==)"><meta nonce="\1">$/.exec(first.body)?.[1];
  t.is(first.status, 200);
  t.is(first.headers['content-type'], 'text/html; charset=utf-8');
  t.is(first.headers['cache-control'], 'no-store');
  t.is(first.headers['content-security-policy'], policyOf(nonce ?? '', "'self' blob:"));
  t.not((await call(port, { path: '/' })).body, first.body);
});

test('images from memory are allowed on the playground alone', async (t) => {
  const { port } = shared();
  for (const path of ['/account', '/trust', '/docs']) {
    const policy = String((await call(port, { path })).headers['content-security-policy']);
    t.is(policy, policyOf(/'nonce-([^']+)'/.exec(policy)?.[1] ?? '', "'self'"), path);
  }
});

test('the account page exists, and nothing below it', async (t) => {
  const { port } = shared();
  t.is((await call(port, { path: '/account' })).body, 'account');
  t.is((await call(port, { path: '/account/' })).status, 404);
});

test('assets have a type, are immutable, and respond 304', async (t) => {
  const { port } = shared();
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

for (const path of words`/assets/main-2b.js /assets/..%2findex.html /assets/ /index.html /assets/__proto__`) {
  test(`404 for ${path}`, async (t) => {
    const { port } = shared();
    const { status, body } = await call(port, { path });
    t.deepEqual([status, JSON.parse(body).code], [404, 'not_found']);
  });
}

test('a file of unknown type fails the start', async (t) => {
  await t.throwsAsync(readPages(build({ 'assets/font-3c.woff': '' }), none), {
    message: /^Expected one of \.css, \.js, \.ogg, \.svg, \.wav, got .*font-3c\.woff$/,
  });
});

const exampleIn = (html: string) =>
  JSON.parse(/<script type="application\/json" id="example"[^>]*>(.*?)<\/script>/s.exec(html)?.[1] ?? '');

for (const set of modelSets) {
  test.serial(`the example of the page is what the service answers, with models/${set}`, async (t) => {
    const { url, token } = await startServer(t, { UNDERTONE_MODELS_DIR: `models/${set}` });
    const example = exampleIn(await (await fetch(url)).text());
    const body = new FormData();
    body.append('audio', new Blob([readFileSync('examples/call.ogg')]));
    body.append('channels', 'split');
    const headers = { Authorization: `Bearer ${token}`, 'X-Request-Id': example.request_id };
    const response = await fetch(`${url}/v1/analyze`, { method: 'POST', headers, body });
    closeTo(t, await response.json(), example, 'run `npm run answers`');
  });
}

test('a folder of models without a report of the example has no example', async (t) => {
  t.is(await readExample(makeFolder(), [], quiet), null);
  const page = { 'index.html': '<script type="application/json" id="example">"EXAMPLE"</script>' };
  const { documents } = await readPages(build(page), none);
  t.is(exampleIn(documents.get('/') ?? ''), null);
});

test('text of an example does not end its element', async (t) => {
  const page = { 'index.html': '<script type="application/json" id="example">"EXAMPLE"</script>' };
  const example = { name: '</script><!-- $& -->' };
  const { documents } = await readPages(build(page), { ...none, example });
  t.deepEqual(exampleIn(documents.get('/') ?? ''), example);
});

test('an example.json of another release or of other models is no example, and is logged', async (t) => {
  const manifests = await readManifests('models/standard');
  const warned: string[] = [];
  const logger = { warn: (fields: object) => void warned.push(JSON.stringify(fields)) };
  t.truthy(await readExample('models/standard', manifests, logger));
  t.deepEqual(warned, []);
  const later = manifests.map((manifest) => ({ ...manifest, version: '99.0.0' }));
  t.is(await readExample('models/standard', later, logger), null);
  const folder = makeFolder();
  writeFileSync(join(folder, 'example.json'), '{"status": "fine"}');
  t.is(await readExample(folder, manifests, logger), null);
  t.deepEqual(warned, ['{"file":"example.json"}', '{"file":"example.json"}']);
});
