/** The pages in a real browser, against the built service. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { Page } from 'playwright-core';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { fixture } from '../../scripts/recordings.ts';
import { password } from '../support/browser.ts';
import { microphone, plainHost, visit } from '../support/chromium.ts';
import { noEmotion, withManifest, withoutEmotion, withoutVoice } from '../support/models.ts';
import {
  barriers,
  chooseFile,
  cutTexts,
  pasteToken,
  resultsOf,
  shownReport,
  signUp,
  tabTo,
  unfold,
  widthOf,
} from '../support/playground.ts';
import { lecture } from '../support/recordings.ts';
import { startServer, staticToken } from '../support/server.ts';
import { startSite } from '../support/site.ts';

const sample = 'examples/sample.wav';
const phone = { viewport: { width: 320, height: 640 } };

const site = startSite({ UNDERTONE_SIGNUP: 'open' }, ...microphone(sample));

const drawn = (page: Page, selector: string) =>
  page.waitForFunction((where) => {
    const canvases = [...document.querySelectorAll(where)].flatMap((host) => [
      ...host.querySelectorAll('canvas'),
      ...[...host.children].flatMap((child) => [...(child.shadowRoot?.querySelectorAll('canvas') ?? [])]),
    ]);
    return canvases.some((canvas) => {
      const { width, height } = canvas;
      const pixels =
        width * height > 0 ? canvas.getContext('2d')?.getImageData(0, 0, width, height).data : [];
      return pixels?.some((value) => value > 0);
    });
  }, selector);

/** Resolves when the level of the microphone rises. */
const speech = (page: Page) =>
  page.waitForFunction(() => {
    const level = document.querySelector('[role=meter]')?.getAttribute('aria-valuenow');
    return Number(level ?? -60) > -40;
  });

const ask = async (token: string) => {
  const body = new FormData();
  body.append('audio', new Blob([readFileSync(sample)]), 'sample.wav');
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${site.server.url}/v1/analyze`, { method: 'POST', headers, body })).status;
};

test.serial(
  'sign up, make a token, record, see the plots, revoke the token: the next call is a 401',
  async (t) => {
    const { page, complaints } = await site.open(t, '/account');
    await signUp(page, 'recorder@example.org');
    await page.locator('#token-name').fill('laptop');
    await page.getByRole('button', { name: 'Create the token' }).click();
    const token = await page.locator('#token-text').innerText();
    t.is(await ask(token), 200);

    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByText('You are logged in').waitFor();
    await page.locator('#recording').getByRole('button', { name: 'Record' }).click();
    await speech(page);
    await page.waitForTimeout(4000);
    // The answer waits until the page was seen to wait for it.
    const waiting = page.locator('progress').waitFor();
    await page.route('**/v1/analyze', async (route) => {
      await waiting;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Stop and analyse' }).click();
    await waiting;
    await resultsOf(page, 'recording.webm');
    await unfold(page, 'Sound');
    const said = await resultsOf(page, 'recording.webm');
    t.regex(said, /Sounds \w+/);
    t.regex(said, /webm, opus/);
    t.notRegex(said, /truncated/);
    for (const part of [
      'Valence',
      'Arousal',
      'Clarity',
      'Load and processing: uncertain',
      'Speech over noise',
    ]) {
      t.true(said.includes(part), part);
    }
    t.is(await page.locator('.bars li').count(), 7);
    t.true((await page.locator('.plane-stop').count()) > 0);
    await drawn(page, '.waveform');
    t.is(
      await page.locator('.affect-track .affect-line').count(),
      2 * (await page.locator('.utterance-column').count()),
    );

    await page.getByRole('link', { name: 'Account', exact: true }).click();
    const used = page.locator('#usage-rows tr').filter({ hasText: 'laptop' });
    await used.waitFor();
    t.regex(await used.innerText(), /laptop\s+1\s+0\s+0:00:\d\d/);
    await page.getByRole('button', { name: 'Revoke laptop' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.locator('#ended').waitFor();
    t.is(await ask(token), 401);
    t.deepEqual(complaints, []);
  },
);

test.serial(
  'a dropped file is analysed; a baseline, which opens on demand, shows the difference',
  async (t) => {
    const { page, complaints } = await site.open(t, '/');
    await pasteToken(page);
    const long = lecture(60);
    const transfer = await page.evaluateHandle((bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0))], 'dropped.wav'));
      return data;
    }, long.toString('base64'));
    await page.locator('#recording .zone').dispatchEvent('drop', { dataTransfer: transfer });
    t.regex(await resultsOf(page, 'dropped.wav'), /From 0\.50, which is usual, to/);
    await page.getByRole('button', { name: 'Compare with the same voice at rest' }).click();
    await page.locator('#baseline').getByRole('button', { name: 'Choose a file' }).waitFor();
    t.is(await page.evaluate(() => document.activeElement?.textContent), 'Record');
    await chooseFile(page, 'rest.wav', long, '#baseline');
    await page.getByText('As at rest').first().waitFor();
    t.regex(await resultsOf(page, 'dropped.wav'), /As at rest \(without the baseline 0\.\d\d\)/);
    t.regex(
      await resultsOf(page, 'dropped.wav'),
      /Against the baseline: valence \S+ \(\S+ to \S+\), arousal/,
    );
    await page.getByRole('button', { name: 'Remove the baseline' }).click();
    await page.getByText('As at rest').first().waitFor({ state: 'detached' });
    t.deepEqual(complaints, []);
  },
);

test.serial('the curl line gives the answer that is shown', async (t) => {
  const { page } = await site.open(t, '/');
  await pasteToken(page);
  await chooseFile(page, 'sample.wav', readFileSync(sample));
  t.notRegex(await resultsOf(page, 'sample.wav'), /Too little speech/);
  await unfold(page, 'The same from a terminal');
  const line = await page.getByRole('region', { name: 'Command' }).innerText();
  const shown = await shownReport(page);
  const env = { PATH: process.env.PATH, UNDERTONE_TOKEN: staticToken };
  const got = JSON.parse(
    execFileSync('sh', ['-c', `${line.replace('curl', 'curl -s')}`], { cwd: 'examples', env }).toString(),
  );
  t.deepEqual({ ...got, request_id: '' }, { ...shown, request_id: '' });
});

test.serial('too little speech shows a message and no scores', async (t) => {
  const { page, complaints } = await site.open(t, '/');
  await pasteToken(page);
  await chooseFile(page, 'silence.wav', wavFile(new Float32Array(32_000)));
  const said = await resultsOf(page, 'silence.wav');
  t.regex(said, /Too little speech\n+Only 0\.0 s of speech was detected/);
  t.false(said.includes('Valence'));
  t.deepEqual(complaints, []);
});

test.serial('a recording that the browser cannot play is analysed all the same', async (t) => {
  const { page, complaints } = await site.open(t, '/');
  await pasteToken(page);
  await chooseFile(page, 'call.amr', fixture('speech.amr'));
  await page.getByText('This browser cannot play the format').waitFor();
  t.regex(await resultsOf(page, 'call.amr'), /Sounds \w+/);
  t.deepEqual(complaints, []);
});

test.serial('errors are shown with a remedy', async (t) => {
  const { page } = await site.open(t, '/');
  await chooseFile(page, 'notes.txt', Buffer.from('no sound'));
  await page.getByText('notes.txt is ready').waitFor();
  await pasteToken(page, 'ut_unknown');
  await page.locator('#access').getByText('It is unknown, expired or revoked').waitFor();
  await pasteToken(page);
  await page.locator('#results').getByText('This format is not supported').waitFor();
  await page.context().setOffline(true);
  await chooseFile(page, 'later.wav', readFileSync(sample));
  await page.locator('#results').getByText('The service cannot be reached').waitFor();
  t.pass();
});

test.serial('without https or localhost the page explains why the microphone is unavailable', async (t) => {
  const named = await startServer(t, { UNDERTONE_PUBLIC_URL: `http://${plainHost}` });
  const { page, complaints } = await visit(t, site.browser, `http://${plainHost}:${named.port}/`);
  await page.locator('#recording').getByRole('button', { name: 'Record' }).click();
  await page.getByText('Browsers allow the microphone only on https and localhost').waitFor();
  t.deepEqual(
    complaints.filter((text) => text.includes('Content Security Policy')),
    [],
  );
});

test.serial('the page announces the first account, and then that sign-up is closed', async (t) => {
  const own = await startServer(t);
  const { page, complaints } = await visit(t, site.browser, `${own.url}/account`);
  await page.getByText('No account exists yet.').waitFor();
  t.is(await page.locator('#guest h2').first().innerText(), 'Create the first account');
  t.false(await page.locator('#closed').isVisible());
  const late = await visit(t, site.browser, `${own.url}/account`);
  await late.page.getByText('No account exists yet.').waitFor();
  await signUp(page, 'first@example.org');
  await page.getByText('first@example.org, administrator').waitFor();

  await late.page.locator('#sign-up-email').fill('second@example.org');
  await late.page.locator('#sign-up-password').fill(password);
  await late.page.getByRole('button', { name: 'Create the account' }).click();
  await late.page.locator('#messages').getByText('Sign-up is closed on this service').waitFor();
  await late.page.locator('#closed').getByText('undertone user create --email').waitFor();
  t.false(await late.page.locator('#sign-up').isVisible());
  await late.page.reload();
  await late.page.locator('#closed').getByText('UNDERTONE_SIGNUP=open').waitFor();
  t.false(await late.page.locator('#sign-up').isVisible());
  t.deepEqual(await barriers(late.page), []);
  t.deepEqual(complaints, []);
});

test.serial('the trust page plays the recordings of known failures, and fits a phone', async (t) => {
  const { page, complaints } = await site.open(t, '/trust', phone);
  t.is(await widthOf(page), phone.viewport.width);
  const gap = await page.evaluate(() => {
    const edges = ['main > nav', 'main > .stack'].map((at) =>
      document.querySelector(at)?.getBoundingClientRect(),
    );
    return (edges[1]?.top ?? 0) - (edges[0]?.bottom ?? 0);
  });
  t.true(gap >= 8, `${gap} px between the links of the sections and the first card`);
  const [first, second] = [0, 1].map((index) => page.locator('[data-recording]').nth(index));
  await first?.click();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  await second?.click();
  t.deepEqual([await first?.innerText(), await second?.innerText()], ['Listen', 'Stop']);
  await second?.click();
  t.is(await second?.innerText(), 'Listen');
  const path = await first?.getAttribute('href');
  const response = await fetch(`${site.server.url}${path}`);
  t.deepEqual(Buffer.from(await response.arrayBuffer()), readFileSync('models/failures/synthetic.flac'));
  t.deepEqual(complaints, []);
});

test.serial('everything can be done with the keyboard', async (t) => {
  const { page } = await site.open(t, '/');
  await page.getByText('Paste a token').waitFor();
  await tabTo(page, /Skip to the content/);
  await page.keyboard.press('Enter');
  await tabTo(page, /Paste a token/);
  await page.keyboard.press('Enter');
  await tabTo(page, /^ token/);
  await page.keyboard.type(staticToken);
  await page.keyboard.press('Enter');
  await page.getByText('A pasted token is used').waitFor();
  t.regex(await page.evaluate(() => document.activeElement?.textContent ?? ''), /^A pasted token is used/);
  await page.locator('.brand').focus();
  await tabTo(page, /Record/);
  await page.keyboard.press('Enter');
  await speech(page);
  await page.waitForTimeout(3000);
  await page.keyboard.press('Enter');
  await resultsOf(page, 'recording.webm');
  t.is(await page.evaluate(() => document.activeElement?.id), 'results');
  await tabTo(page, /Play/);
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  await tabTo(page, /Utterances \(/);
  await page.keyboard.press('Enter');
  await page.getByRole('columnheader', { name: 'Valence' }).waitFor();
  await tabTo(page, /valence 0\.\d\d, arousal 0\.\d\d/);
  await page.keyboard.press('Enter');
});

test.serial('nothing is wider than a phone', async (t) => {
  const { page } = await site.open(t, '/', phone);
  t.is(await widthOf(page), 320);
  await pasteToken(page);
  await chooseFile(page, 'sample.wav', readFileSync(sample));
  await resultsOf(page, 'sample.wav');
  for (const summary of await page.locator('summary').all()) await summary.click();
  t.is(await widthOf(page), 320);
  await page.goto(`${site.server.url}/account`);
  await page.locator('#sign-up').waitFor();
  t.is(await widthOf(page), 320);
  await signUp(page, 'phone@example.org');
  t.is(await widthOf(page), 320);
});

test.serial('nothing of the account page is cut off on a phone, with much usage', async (t) => {
  const { page } = await site.open(t, '/account', { viewport: { width: 390, height: 844 } });
  await signUp(page, 'much@example.org');
  const day = { requests: 123_456, errors: 12_345, audio_s: 4_000_000 };
  const token = {
    id: 'tok_1',
    name: 'laptop of the reading room',
    purpose: 'training of the voice of an assistant',
    email: null,
    days: ['2026-01-02', '2026-01-01'].map((date) => ({ date, ...day })),
  };
  const tokens = [token, { ...token, name: 'x'.repeat(64), email: 'much@example.org' }];
  await page.route('**/account/api/usage', (route) =>
    route.fulfill({ json: { since: '2025-10-05', tokens } }),
  );
  await page.reload();
  const row = page.getByRole('row', { name: 'laptop of the reading room' });
  await row.waitFor();
  await page.getByText('By day').click();
  t.deepEqual(await cutTexts(page, 'main'), []);
  t.deepEqual(await barriers(page), []);
  t.regex(await row.innerText(), /246,912\s+24,690\s+2222:13:20\s+2026-01-02$/);
  const label = (index: number) =>
    row
      .getByRole('cell')
      .nth(index)
      .evaluate((cell) => getComputedStyle(cell, '::before').content);
  t.deepEqual(await Promise.all([0, 3].map(label)), ['"Requests"', '"Last day"']);
  await page.setViewportSize(phone.viewport);
  t.deepEqual(await cutTexts(page, '#usage-rows'), []);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test.serial(`axe finds no serious barrier on the account page, ${colorScheme}`, async (t) => {
    const { page, complaints } = await site.open(t, '/account', { colorScheme });
    await page.locator('#sign-up').waitFor();
    t.deepEqual(await barriers(page), [], 'nobody logged in');
    await signUp(page, `${colorScheme}@example.org`);
    t.deepEqual(await barriers(page), [], 'logged in');
    t.deepEqual(complaints, []);
  });

  test.serial(`axe finds no serious barrier on the trust page, ${colorScheme}`, async (t) => {
    const { page, complaints } = await site.open(t, '/trust', { colorScheme });
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    t.deepEqual(await barriers(page), []);
    t.deepEqual(complaints, []);
  });
}

test.serial('models without emotion: the reason in place of its scores, and the others', async (t) => {
  const lacking = await startServer(t, { UNDERTONE_MODELS_DIR: await withoutEmotion(t) });
  const { page } = await visit(t, site.browser, lacking.url);
  await pasteToken(page);
  await chooseFile(page, 'first.wav', readFileSync(sample));
  const text = await resultsOf(page, 'first.wav');
  t.regex(text, /No emotion/);
  t.true(text.includes(noEmotion));
  t.regex(text, /Clarity\s+0\.\d\d/);
  await page.getByRole('button', { name: 'Compare with the next recording' }).click();
  await chooseFile(page, 'second.wav', readFileSync(sample));
  t.notRegex(await resultsOf(page, 'second.wav'), /^Too little speech$/m);
  t.deepEqual(await barriers(page), []);
});

test.serial('models without a voice model: no voices to choose', async (t) => {
  const lacking = await startServer(t, { UNDERTONE_MODELS_DIR: await withoutVoice(t) });
  const { page } = await visit(t, site.browser, lacking.url);
  await pasteToken(page);
  await chooseFile(page, 'mono.wav', readFileSync(sample));
  await resultsOf(page, 'mono.wav');
  t.is(await page.locator('#choice').count(), 0);
  const { page: usual } = await site.open(t, '/');
  await pasteToken(usual);
  await chooseFile(usual, 'mono.wav', readFileSync(sample));
  await resultsOf(usual, 'mono.wav');
  t.regex(await usual.locator('#choice').innerText(), /one voice\s+two voices/);
});

test.serial(
  'models that were adapted without ratings: emotions without valence, arousal and tone',
  async (t) => {
    const models = await withManifest(t, 'emotion', (manifest) => {
      Object.assign(manifest.params as object, { dimensions: [] });
    });
    const unrated = await startServer(t, { UNDERTONE_MODELS_DIR: models });
    const { page, complaints } = await visit(t, site.browser, unrated.url);
    await pasteToken(page);
    await chooseFile(page, 'unrated.wav', readFileSync(sample));
    const text = await resultsOf(page, 'unrated.wav');
    t.regex(text, /Sounds \w+/);
    t.regex(text, /Emotions/);
    t.notRegex(text, /Valence|Arousal|Tone of voice|null|NaN/);
    t.deepEqual(complaints, []);
  },
);
