/** Live mode in a real browser with a fake microphone, against the built service. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { microphone, openChromium, visit } from '../support/chromium.ts';
import { makeFolder } from '../support/folder.ts';
import { withoutEmotion } from '../support/models.ts';
import {
  barriers,
  hold,
  pasteToken,
  resultsOf,
  shownReport,
  signUp,
  unfold,
  widthOf,
} from '../support/playground.ts';
import { talk } from '../support/recordings.ts';
import { makeToken, type Server, startServer, staticToken } from '../support/server.ts';
import { startSite } from '../support/site.ts';
import { analyzeFile } from '../support/stream-client.ts';
import { until } from '../support/wait.ts';

const site = startSite({}, ...microphone('examples/sample.wav'));

async function openLive(
  t: ExecutionContext,
  {
    url = site.server.url,
    token = staticToken,
    ...options
  }: BrowserContextOptions & { url?: string; token?: string } = {},
) {
  const tab = await visit(t, site.browser, url, options);
  await pasteToken(tab.page, token);
  await tab.page.getByRole('button', { name: 'Live' }).click();
  return tab;
}

const turnOf = (page: Page) => page.locator('.utterance[data-emotion]').first();

async function analyzeSaved(page: Page, { port, token }: Server): Promise<object> {
  await unfold(page, 'The same from a terminal');
  const saved = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Save live.wav' }).click();
  const wav = await readFile(await (await saved).path());
  return JSON.parse((await analyzeFile(port, token, wav, 'same')).body);
}

test.serial(
  'speech, scores and utterances are shown live; the report of the same samples replaces them',
  async (t) => {
    const { page, complaints } = await openLive(t);
    await page.locator('.activity.on').waitFor();
    await page.getByRole('img', { name: /Plane.* of the last seconds/ }).waitFor();
    await turnOf(page).waitFor();
    const said = await page.getByRole('region', { name: 'Results' }).innerText();
    t.regex(said, /Provisional/);
    t.regex(said, /Cognitive load/);
    t.regex(said, /Clarity/);
    t.regex(await page.locator('#announcement').innerText(), /^Sounds \w+/);
    t.deepEqual(complaints, []);

    // The upload has no `speakers`: it warns where fewer than two utterances can be compared.
    await page.locator('.utterance[data-emotion]').nth(1).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    t.notRegex(await resultsOf(page, 'live.wav ·'), /Provisional/);
    const report = await shownReport(page);
    t.is(await page.locator('.headline-word em').innerText(), report.emotion.signals.dominant_emotion);
    t.is(await page.locator('button.utterance').count(), report.emotion.timeline.length);
    t.deepEqual({ ...report, request_id: 'same' }, await analyzeSaved(page, site.server));
    t.deepEqual(complaints, []);
  },
);

test.serial('each of two voices has a lane; the report names both', async (t) => {
  const path = join(makeFolder(), 'talk.wav');
  await writeFile(path, wavFile(talk(['low', 'high'], 0.6).samples));
  const browser = await openChromium(...microphone(path));
  t.teardown(() => browser.close());
  const { page, complaints } = await visit(t, browser, site.server.url);
  await pasteToken(page);
  await page.getByRole('button', { name: 'Live' }).click();
  const laneOf = (speaker: number) => page.getByRole('list', { name: `Utterances: Speaker ${speaker}` });
  await laneOf(1).getByRole('listitem').first().waitFor();
  t.false(await page.getByText('Speaker 1', { exact: true }).isVisible());
  await laneOf(2).locator('[data-emotion]').first().waitFor();
  t.true(await page.getByText('Speaker 1', { exact: true }).isVisible());

  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('textbox', { name: 'Name of Speaker 2' }).waitFor();
  t.deepEqual(complaints, []);
});

test.serial('models without emotion have utterances and cognitive scores', async (t) => {
  const own = await startServer(t, { UNDERTONE_MODELS_DIR: await withoutEmotion(t) });
  const { page, complaints } = await openLive(t, { url: own.url });
  await page.locator('.utterance:not(.open)').first().waitFor();
  await page.locator('#results').getByRole('button', { name: 'Clarity' }).waitFor();
  t.false(await page.getByRole('heading', { name: 'Valence and arousal' }).isVisible());
  t.deepEqual(complaints, []);
});

test.serial('the level meter asks for a voice before the first utterance only', async (t) => {
  const { page } = await openLive(t);
  const meter = page.getByRole('meter', { name: 'Microphone level' });
  await page.locator('.activity.on').waitFor();
  const seen = new Set<string | null>();
  await until(async () => {
    seen.add(await meter.getAttribute('aria-valuetext'));
    return seen.has('Pause');
  });
  t.false(seen.has('No voice yet: speak'));
});

test.serial('a session gets its token from the log-in', async (t) => {
  const { page, complaints } = await site.open(t, '/account');
  await signUp(page, 'speaker@example.org');
  await page.getByRole('link', { name: 'Playground', exact: true }).click();
  await page.getByRole('button', { name: 'Live' }).click();
  await page.locator('.activity.on').waitFor();
  t.deepEqual(complaints, []);
});

test.serial('with the keyboard, on a phone: Live, then Discard', async (t) => {
  const { page } = await openLive(t, { viewport: { width: 320, height: 640 } });
  await turnOf(page).waitFor();
  t.is(await widthOf(page), 320);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('#results').waitFor({ state: 'hidden' });
  t.is(await page.evaluate(() => document.activeElement?.textContent), 'Live');
});

test.serial('a refused microphone is explained', async (t) => {
  const refusing = await openChromium('--use-fake-device-for-media-stream', '--deny-permission-prompts');
  t.teardown(() => refusing.close());
  const { page } = await visit(t, refusing, site.server.url);
  await pasteToken(page);
  await page.getByRole('button', { name: 'Live' }).click();
  await page.getByText('The microphone was not allowed').waitFor();
  t.true(await page.getByRole('button', { name: 'Live' }).isEnabled());
});

test.serial('without a token, or a scope of it, the page says so', async (t) => {
  const { page } = await site.open(t);
  await page.getByRole('button', { name: 'Live' }).click();
  await page.getByText('Live needs a token').waitFor();
  const narrow = await openLive(t, { token: makeToken(site.server, 'analyze:emotion') });
  await narrow.page.locator('#results').getByText('The token does not allow this').waitFor();
  const unknown = await openLive(t, { token: 'ut_unknown' });
  await unknown.page.locator('#access').getByText('The token was not accepted').waitFor();
  t.pass();
});

test.serial('a session that is answered late does not hide why a token is needed', async (t) => {
  const { page } = await site.open(t);
  const path = '**/account/api/session';
  const { asked, release } = hold(page, path);
  await page.reload();
  await asked;
  await page.getByRole('button', { name: 'Live' }).click();
  const reason = page.getByText('Live needs a token');
  await reason.waitFor();
  const answered = page.waitForResponse(path);
  release();
  await answered;
  await page.unroute(path);
  // When this later answer is read, the page has read the one before.
  await page.evaluate(() => fetch('/account/api/session').then((response) => response.json()));
  t.true(await reason.isVisible());
});

test.serial('a session that reaches its limit ends with its report', async (t) => {
  const own = await startServer(t, { UNDERTONE_STREAM_MAX_SECONDS: '3' });
  const { page } = await openLive(t, { url: own.url });
  t.regex(await resultsOf(page, 'live.wav ·'), /The session reached its longest duration/);
});

test.serial('a recording whose session was interrupted is analysed as an upload', async (t) => {
  const first = await startServer(t);
  const { page } = await openLive(t, { url: first.url });
  await turnOf(page).waitFor();
  await first.stop('SIGKILL');
  await page.locator('#results').getByText('The live session was interrupted').waitFor();
  await startServer(t, { UNDERTONE_PORT: String(first.port) });
  await page.getByRole('button', { name: 'Analyse what was recorded' }).click();
  t.regex(await resultsOf(page, 'live.wav ·'), /Sounds \w+/);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test.serial(`axe finds no serious barrier in live mode, ${colorScheme}`, async (t) => {
    const { page } = await openLive(t, { colorScheme });
    await turnOf(page).waitFor();
    t.deepEqual(await barriers(page), []);
  });
}
