/** Recordings of the microphone in a real browser with a fake one, against the built service. */
import { readFile } from 'node:fs/promises';
import test from 'ava';
import type { Page } from 'playwright-core';
import { microphone } from '../support/chromium.ts';
import { pasteToken, resultsOf, signUp } from '../support/playground.ts';
import { startSite } from '../support/site.ts';

const site = startSite({ UNDERTONE_SIGNUP: 'open' }, ...microphone('examples/sample.wav'));

/** @param host `#recording` or `#baseline` */
const recordIn = (page: Page, host: string) =>
  page.locator(host).getByRole('button', { name: 'Record', exact: true }).click();

/** Records three seconds of the sample. */
async function record(page: Page): Promise<void> {
  await recordIn(page, '#recording');
  await page.locator('.recorder').waitFor();
  await page.waitForTimeout(3000);
  await page.getByRole('button', { name: 'Stop and analyse' }).click();
}

test.serial('a recording survives an error and a cancelled upload: it is sent again, or saved', async (t) => {
  const { page } = await site.open(t);
  await pasteToken(page);
  await page.route('**/v1/analyze', (route) => route.abort(), { times: 1 });
  await record(page);
  const results = page.locator('#results');
  await results.getByText('The service cannot be reached').waitFor();
  const saved = page.waitForEvent('download');
  await results.getByRole('button', { name: 'Save the recording' }).click();
  const file = await saved;
  t.is(file.suggestedFilename(), 'recording.webm');
  // The first bytes of Matroska.
  t.is((await readFile(await file.path())).subarray(0, 4).toString('hex'), '1a45dfa3');

  // The second upload waits until it is cancelled.
  await page.route('**/v1/analyze', () => {}, { times: 1 });
  await results.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await results.getByText('recording.webm was not analysed').waitFor();
  await results.getByRole('button', { name: 'Try again' }).click();
  t.regex(await resultsOf(page, 'recording.webm ·'), /Sounds \w+/);
  // Too few utterances to compare: none is a moment.
  t.true((await page.locator('.utterance').count()) > 0);
  t.is(await page.locator('#results .moment').count(), 0);
});

test.serial('one microphone at a time', async (t) => {
  const { page, complaints } = await site.open(t);
  await pasteToken(page);
  await record(page);
  await resultsOf(page, 'recording.webm ·');
  await page.getByRole('button', { name: 'Compare with the same voice at rest' }).click();
  await recordIn(page, '#baseline');
  await page.locator('.recorder').waitFor();
  await recordIn(page, '#recording');
  await page.locator('#recording').getByText('Another recording is running. Stop it first.').waitFor();
  t.is(await page.locator('.recorder').count(), 1);
  t.deepEqual(complaints, []);
});

test.serial('a recording ends and is analysed when the microphone is disconnected', async (t) => {
  const { page } = await site.open(t);
  await page.addInitScript(() => {
    const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (options) => {
      const stream = await open(options);
      Object.assign(window, { microphone: stream });
      return stream;
    };
  });
  await page.reload();
  await pasteToken(page);
  await recordIn(page, '#recording');
  await page.locator('.recorder').waitFor();
  await page.waitForTimeout(3000);
  await page.evaluate(() => {
    const { microphone } = window as unknown as { microphone: MediaStream };
    for (const track of microphone.getTracks()) {
      track.stop();
      track.dispatchEvent(new Event('ended'));
    }
  });
  t.regex(await resultsOf(page, 'recording.webm ·'), /Sounds \w+/);
});

test.serial('an account whose session has ended shows the log-in again', async (t) => {
  const { page } = await site.open(t, '/account');
  await signUp(page, 'ended@example.org');
  await page.context().clearCookies();
  await page.locator('#token-name').fill('laptop');
  await page.getByRole('button', { name: 'Create the token' }).click();
  await page.getByText('You are no longer logged in. Log in, then try again.').waitFor();
  t.is(await page.evaluate(() => document.activeElement?.id), 'log-in-email');
});
