/** The pages of the documentation in a real browser, against the built service. */
import test from 'ava';
import { listDocs } from '../../src/node/docs.ts';
import { renderMarkdown, searchIndex } from '../../web/render-guide.ts';
import { call } from '../support/http.ts';
import { barriers, widthOf } from '../support/playground.ts';
import { startSite } from '../support/site.ts';

const site = startSite({ UNDERTONE_WORKERS: '1' });
const names = listDocs().map((name) => name.replace(/\.md$/, ''));

test('HTML in Markdown is text, and comments are left out', (t) => {
  const html = renderMarkdown('a <b onclick="x()">c</b>\n\n<script>x()</script>\n\n<!-- rows -->\n\n`<i>`');
  t.notRegex(html, /<(b|script|i)\b|rows/);
  t.regex(html, /&lt;script&gt;x\(\)&lt;\/script&gt;/);
  t.regex(html, /<code>&lt;i&gt;<\/code>/);
  t.regex(renderMarkdown('h<sup>2</sup>'), /h<sup>2<\/sup>/);
  t.is(renderMarkdown('```mermaid\ngraph TD\n```'), '');
});

test('headings have the anchors of GitHub', (t) => {
  t.regex(renderMarkdown('## What `low_snr` is, and is not'), /<h2 id="what-low_snr-is-and-is-not">/);
});

test.serial('every page is served, and every link in it leads to a page and a heading', async (t) => {
  const { port } = site.server;
  const pages = new Map<string, string>();
  for (const name of names) {
    const { status, headers, body } = await call(port, { path: `/docs/${name}` });
    t.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'], name);
    t.regex(String(headers['content-security-policy']), /^default-src 'none'/);
    t.notRegex(body, /<!-- content -->|CSP_NONCE|TITLE/);
    pages.set(`/docs/${name}`, body);
  }
  for (const [path, body] of pages) {
    const article = body.slice(body.indexOf('<article>'));
    for (const [, address = ''] of article.matchAll(/ (?:href|src)="((?!https?:)[^"]+)"/g)) {
      const { pathname, hash } = new URL(address, `http://service${path}`);
      if (pathname.startsWith('/docs/pictures/')) {
        t.is((await call(port, { path: pathname })).status, 200, `${path}: ${address}`);
        continue;
      }
      const target = pages.get(pathname);
      t.true(target !== undefined, `${path}: ${address}`);
      if (hash !== '') t.true(target?.includes(`id="${hash.slice(1)}"`), `${path}: ${address}`);
    }
  }
  t.is((await call(port, { path: '/docs/none' })).status, 404);
  t.deepEqual(JSON.parse((await call(port, { path: '/docs/search.json' })).body), searchIndex());
});

test.serial('the search lists sections with every word, those that are named by it first', async (t) => {
  const { page, complaints } = await site.open(t, '/docs/start');
  const words = page.getByRole('searchbox', { name: 'Search the documentation' });
  await words.fill('retry-after 429');
  await page.locator('#found li').first().waitFor();
  await words.fill('close codes');
  const first = page.locator('#found li a').first();
  await page.getByText(/^\d+ places?/).waitFor();
  t.is(await first.innerText(), 'Live audio: Close codes');
  t.regex(await page.locator('#found li p').first().innerText(), /^Code/);
  await first.click();
  await page.waitForURL('**/docs/streaming#close-codes');
  t.is(await page.locator('nav[aria-label=Documentation] [aria-current=page]').innerText(), 'Live audio');
  await words.fill('no such word anywhere');
  await page.getByText('0 places').waitFor();
  t.deepEqual(complaints, []);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test.serial(`axe finds no serious barrier on pages of the documentation, ${colorScheme}`, async (t) => {
    for (const path of ['/docs/http-api', '/docs/results/evaluation']) {
      const { page, complaints } = await site.open(t, path, { colorScheme });
      t.deepEqual(await barriers(page), [], path);
      t.deepEqual(complaints, []);
    }
  });
}

for (const width of [320, 1440]) {
  test.serial(`no page is wider than ${width} px`, async (t) => {
    const { page } = await site.open(t, '/docs/README', { viewport: { width, height: 800 } });
    for (const name of names) {
      await page.goto(`${site.server.url}/docs/${name}`);
      t.is(await widthOf(page), width, name);
    }
  });
}
