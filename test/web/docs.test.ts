/** The API page in a real browser, against the built service. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openApiDocument } from '../../src/service/api/document.ts';
import { barriers, cutTexts, pasteToken, sendSample, signUp, tabTo, widthOf } from '../support/playground.ts';
import { staticToken } from '../support/server.ts';
import { startSite } from '../support/site.ts';

const { paths } = openApiDocument('1.0.0') as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
};
const shown = Object.entries(paths).filter(([path]) => !path.startsWith('/account/'));
const operationIds = shown.flatMap(([, methods]) =>
  Object.values(methods).map(({ operationId }) => operationId),
);

const site = startSite({ UNDERTONE_SIGNUP: 'open', UNDERTONE_WORKERS: '1' });

async function open(t: ExecutionContext, options: BrowserContextOptions = {}, path = '/docs') {
  const visited = await site.open(t, path, options);
  await visited.page.locator('#access').getByText('Paste a token').waitFor();
  return visited;
}

/** The next request to this path that the page sends. */
const requestTo = (page: Page, path: string) =>
  page.waitForRequest((request) => new URL(request.url()).pathname === path);

async function openEndpoint(page: Page, operationId: string) {
  const endpoint = page.locator(`#${operationId}`);
  await endpoint.locator('> summary').click();
  return endpoint;
}

test.serial('every endpoint of programs comes before the errors, and those before the schemas', async (t) => {
  const { page, complaints } = await open(t);
  t.deepEqual(await page.locator('section h2').allInnerTexts(), [
    'First request',
    'Analysis',
    'Jobs',
    'Live',
    'Service',
    'Models',
    'Rules',
    'Errors',
    'Schemas',
  ]);
  const ids = await page.locator('.endpoint').evaluateAll((found) => found.map(({ id }) => id));
  t.deepEqual(ids.toSorted(), [...operationIds, 'jobEnded', 'stream'].toSorted());
  t.is(await page.locator('header.top [aria-current=page]').innerText(), 'API');
  t.is(await page.locator('.endpoint h3', { hasText: '/account' }).count(), 0);
  t.deepEqual(complaints, []);
});

test.serial('nothing comes from other hosts, and less than 400 kB in all', async (t) => {
  const context = await site.browser.newContext();
  t.teardown(() => context.close());
  const page = await context.newPage();
  const sizes: Promise<number>[] = [];
  page.on('response', (response) => {
    t.true(response.url().startsWith(`${site.server.url}/`), response.url());
    sizes.push(response.allHeaders().then((headers) => Number(headers['content-length'] ?? 0)));
  });
  const response = await page.goto(`${site.server.url}/docs`, { waitUntil: 'networkidle' });
  const policy = response?.headers()['content-security-policy'] ?? '';
  t.regex(policy, /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-\S+'; img-src 'self';/);
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  t.true(bytes > 200_000 && bytes < 400_000, `${bytes} bytes`);
});

test.serial('the links of every page lead somewhere', async (t) => {
  for (const page of ['/', '/account', '/trust', '/docs']) {
    const html = await (await fetch(site.server.url + page)).text();
    const targets = new Set([...html.matchAll(/href="([^"]+)"/g)].map(([, target = '']) => target));
    const anchors = [...targets].filter((target) => target.startsWith('#'));
    for (const anchor of anchors) t.true(html.includes(`id="${anchor.slice(1)}"`), page + anchor);
    const others = [...targets].filter((target) => target.startsWith('/'));
    for (const path of others) t.is((await fetch(site.server.url + path)).status, 200, `${path} of ${page}`);
    if (page !== '/docs') continue;
    t.true(anchors.length > 40);
    for (const path of ['/asyncapi.json', '/docs/streaming.md', '/openapi.json'])
      t.true(targets.has(path), path);
  }
});

test.serial('a request with a pasted token has the answer of the service', async (t) => {
  const { page, complaints } = await open(t);
  await pasteToken(page);
  const sent = requestTo(page, '/v1/analyze/emotion');
  const shownAnswer = JSON.parse(await sendSample(page, 'analyzeEmotion'));
  t.is((await (await sent).allHeaders()).authorization, `Bearer ${staticToken}`);
  t.regex(await page.locator('#analyzeEmotion [role=status]').innerText(), /^200 OK, after [\d,]+ ms/);

  const body = new FormData();
  body.append('audio', new Blob([readFileSync('examples/sample.wav')]));
  const headers = { Authorization: `Bearer ${staticToken}` };
  const direct = await fetch(`${site.server.url}/v1/analyze/emotion`, { method: 'POST', headers, body });
  t.deepEqual({ ...shownAnswer, request_id: '' }, { ...((await direct.json()) as object), request_id: '' });
  t.deepEqual(complaints, []);
});

test.serial('a request of a logged-in visitor has a token of the page, and no cookie', async (t) => {
  const { page, complaints } = await site.open(t, '/account');
  await signUp(page, 'reader@example.org');
  await page.getByRole('link', { name: 'API', exact: true }).click();
  await page.getByText('You are logged in').waitFor();
  const sent = requestTo(page, '/v1/analyze');
  const { emotion } = JSON.parse(await sendSample(page, 'analyze'));
  t.is(emotion.status, 'ok');
  const { authorization = '', cookie } = await (await sent).allHeaders();
  t.regex(authorization, /^Bearer ut_\w+/);
  t.is(cookie, undefined);
  t.deepEqual(complaints, []);
});

test.serial('without a token the page says so, and sends nothing', async (t) => {
  const { page } = await open(t);
  const paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname));
  const usage = await openEndpoint(page, 'usage');
  await usage.getByRole('button', { name: 'Send' }).click();
  await usage.getByText('This request needs a token').waitFor();
  t.false(paths.includes('/v1/usage'));
  await usage.getByRole('link', { name: 'log in or paste one' }).click();
  t.true(page.url().endsWith('#access'));
  const health = await openEndpoint(page, 'health');
  await health.getByRole('button', { name: 'Send' }).click();
  t.is(await health.getByRole('group', { name: 'Body of the answer' }).innerText(), '{}');
});

test.serial('values go into the path, the query, headers, the form and JSON', async (t) => {
  const { page } = await open(t);
  await pasteToken(page);

  const show = await openEndpoint(page, 'showJob');
  await show.getByLabel('id', { exact: true }).fill('job/1');
  await show.getByText('Optional: wait').click();
  await show.getByLabel('wait', { exact: true }).fill('3');
  const shownJob = requestTo(page, '/v1/jobs/job%2F1');
  await show.getByRole('button', { name: 'Send' }).click();
  t.is(new URL((await shownJob).url()).search, '?wait=3');

  const create = await openEndpoint(page, 'createStreamToken');
  await create.getByRole('button', { name: 'Send' }).click();
  t.truthy(JSON.parse(await create.getByRole('group', { name: 'Body of the answer' }).innerText()).token);
  await create.getByLabel('Body', { exact: true }).fill('{"scopes": ["none"]}');
  await create.getByRole('button', { name: 'Send' }).click();
  await create.getByText('422 Unprocessable').waitFor();
  t.regex(await create.getByRole('group', { name: 'Body of the answer' }).innerText(), /value_error\.scopes/);

  const list = await openEndpoint(page, 'beginJob');
  const form = list.locator('form').last();
  await form.getByText('Optional: Idempotency-Key').click();
  const key = form.getByLabel('Idempotency-Key');
  await key.fill('a key');
  t.false(await key.evaluate((input: HTMLInputElement) => input.checkValidity()));
  await key.fill('key-1');
  const posted = requestTo(page, '/v1/jobs');
  await form.getByRole('button', { name: 'Send' }).click();
  const headers = await (await posted).allHeaders();
  t.like(headers, { 'idempotency-key': 'key-1', 'content-type': 'application/json' });
  t.true(Array.isArray((await posted).postDataJSON().urls));

  const both = await openEndpoint(page, 'analyze');
  await both.getByText('Optional: baseline').click();
  await both.getByLabel('channel', { exact: true }).fill('7');
  await both.locator('> summary').click();
  t.regex(await sendSample(page, 'analyze'), /value_error\.audio\.channel/);
});

test.serial('a rejected token is shown as the answer', async (t) => {
  const { page } = await open(t);
  await pasteToken(page, 'ut_unknown');
  const usage = await openEndpoint(page, 'usage');
  await usage.getByRole('button', { name: 'Send' }).click();
  await usage.getByText('401 Unauthorized').waitFor();
  t.is(
    JSON.parse(await usage.getByRole('group', { name: 'Body of the answer' }).innerText()).code,
    'unauthenticated',
  );
  await usage.getByText('Headers', { exact: true }).click();
  t.regex(
    await usage.getByRole('group', { name: 'Headers of the answer' }).innerText(),
    /^www-authenticate: Bearer$/m,
  );
  await page.getByText('A pasted token is used').waitFor();
});

test.serial('the samples of the chosen language are shown, with the address of the service', async (t) => {
  const { page } = await open(t, {}, '/docs#usage');
  const usage = page.locator('#usage');
  const line = await usage.getByRole('group', { name: 'curl' }).innerText();
  const env = { PATH: process.env.PATH, UNDERTONE_TOKEN: staticToken };
  const answer = JSON.parse(
    execFileSync('sh', ['-c', line.replace('curl', 'curl -s')], { env, encoding: 'utf8' }),
  );
  t.truthy(answer.token);
  await usage.getByRole('button', { name: 'Python' }).click();
  t.regex(await usage.getByRole('group', { name: 'Python' }).innerText(), /client\.usage\(\)/);
  t.is(await usage.getByRole('group', { name: 'curl' }).count(), 0);
  const stream = await openEndpoint(page, 'stream');
  t.regex(await stream.getByRole('group', { name: 'Python' }).innerText(), new RegExp(site.server.url));
  await usage.getByRole('button', { name: 'curl' }).click();
  // There is no sample of a WebSocket in curl: the first one stays.
  t.true(await stream.getByRole('group', { name: 'TypeScript' }).isVisible());
});

test.serial('a request can be sent with the keyboard', async (t) => {
  const { page } = await open(t);
  await tabTo(page, /Skip to the content/);
  await page.keyboard.press('Enter');
  await tabTo(page, /Paste a token/);
  await page.keyboard.press('Enter');
  await tabTo(page, /^ token $/);
  await page.keyboard.type(staticToken);
  await page.keyboard.press('Enter');
  await page.getByText('A pasted token is used').waitFor();
  await tabTo(page, /\/v1\/analyze\/cognitive/);
  await page.keyboard.press('Enter');
  await tabTo(page, /Use the sample/);
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>('#analyzeCognitive-form-audio')?.files?.length === 1,
  );
  await tabTo(page, /Send/);
  await page.keyboard.press('Enter');
  const answer = await page
    .locator('#analyzeCognitive')
    .getByRole('group', { name: 'Body of the answer' })
    .innerText();
  t.is(JSON.parse(answer).status, 'ok');
});

test.serial('without JavaScript the page has its content, and sends no request', async (t) => {
  const { page } = await site.open(t, '/docs', { javaScriptEnabled: false });
  t.regex(await page.locator('noscript').innerText(), /Requests from this page need JavaScript/);
  const analyze = await openEndpoint(page, 'analyze');
  for (const name of ['curl', 'TypeScript', 'Python'])
    t.true(await analyze.getByRole('group', { name }).isVisible());
  t.true(await analyze.getByRole('button', { name: 'Send' }).isDisabled());
});

for (const width of [320, 390, 1440]) {
  test.serial(`nothing is cut off at ${width} px, with open endpoints and an answer`, async (t) => {
    const { page } = await open(t, { viewport: { width, height: 800 } });
    t.is(await widthOf(page), width);
    await pasteToken(page);
    await sendSample(page, 'beginJob');
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    t.is(await widthOf(page), width);
    t.deepEqual(await cutTexts(page, 'body'), []);
  });
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.serial(`axe finds no serious barrier on the API page, ${colorScheme}`, async (t) => {
    const { page, complaints } = await open(t, { colorScheme });
    await pasteToken(page);
    await sendSample(page, 'analyze');
    for (const id of ['beginJob', 'removeJob', 'stream', 'schema-Job']) await openEndpoint(page, id);
    t.deepEqual(await barriers(page), []);
    t.deepEqual(complaints, []);
  });
}
