/** The first screen: the example, the answer, its scales, and the parts that open on demand, measured in a real browser. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { Page } from 'playwright-core';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { samplesOf } from '../support/analysis.ts';
import {
  barriers,
  chooseFile,
  cutTexts,
  hold,
  pasteToken,
  resultsOf,
  unfold,
  widthOf,
} from '../support/playground.ts';
import { callOf, interview, lecture, outburst, poor } from '../support/recordings.ts';
import { startSite } from '../support/site.ts';

const desktop = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
const small = { width: 320, height: 640 };
/** A finger in place of a mouse. */
const touch = { hasTouch: true, isMobile: true };
const sample = readFileSync('examples/sample.wav');

const site = startSite();

const scoreNames = ['Valence', 'Arousal', 'Cognitive load', 'Clarity', 'Processing'];

/** Top and bottom of the answer: headline, scores with intervals, and warnings. */
const answerOf = (page: Page) =>
  page.locator('#results .summary').evaluate((summary) => {
    const { top, bottom } = summary.getBoundingClientRect();
    return { top, bottom };
  });

const bubble = (page: Page) => page.locator('.bubble:popover-open');

for (const [device, options] of [
  ['desktop', { viewport: desktop }],
  ['phone', { viewport: phone, ...touch }],
] as const) {
  test.serial(`the example is seen before a token, above the fold of a ${device}`, async (t) => {
    const { page, complaints } = await site.open(t, '/', options);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    const example = page.getByRole('region', { name: 'Example' });
    await example.locator('.waveform').waitFor();
    const { channels, conversation } = JSON.parse(readFileSync('models/standard/example.json', 'utf8'));
    const said = await example.innerText();
    const [{ emotion, start_s }] = channels[0].emotion.moments;
    t.true(said.includes(`Channel 0 ${emotion} at 0:${Math.floor(start_s)}`), said);
    for (const share of conversation.talk_share)
      t.true(said.includes(`${Math.round(100 * share)} % of the talk`), said);
    const { top, bottom } = await answerOf(page);
    t.true(top >= 0 && bottom <= options.viewport.height, `${top} to ${bottom}`);
    t.is(await page.evaluate(() => scrollY), 0);
    t.false(await page.locator('#token').isVisible());
    t.false(await page.getByText('Add a baseline').isVisible());
    t.false(await page.getByRole('button', { name: 'Compare with the same voice at rest' }).isVisible());
    t.false(requests.includes('/v1/analyze'), 'it is recorded');
    t.is(await widthOf(page), options.viewport.width);
    await example.getByRole('button', { name: 'Play', exact: true }).click();
    await example.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    t.deepEqual(complaints, []);
  });
}

for (const [device, options] of [
  ['desktop', { viewport: desktop }],
  ['phone', { viewport: phone, ...touch }],
] as const) {
  test.serial(`a moment is named, and played from above the fold of a ${device}`, async (t) => {
    const { samples, start } = outburst(true);
    const { page, said, complaints } = await site.report(t, 'call.wav', wavFile(samples), options);
    t.regex(said, /^(Sounds neutral|No clear emotion), \w+ at 0:\d\d$/m);
    const moment = page
      .getByRole('region', { name: 'Moments' })
      .getByRole('button', { name: /^Play 0:\d\d \w+ \d+ %/ });
    const { bottom = Number.NaN } = await moment.evaluate((button) => ({
      bottom: button.getBoundingClientRect().bottom,
    }));
    t.true(bottom <= options.viewport.height, `${bottom}`);
    await moment.click();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    const position = page.getByRole('slider', { name: 'Position in seconds' });
    t.true(Number(await position.inputValue()) >= start);
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    t.true(Number(await position.inputValue()) <= start + 2.5, 'it stops at the end of the moment');
    t.is(await widthOf(page), options.viewport.width);
    t.deepEqual(complaints, []);
    t.deepEqual(await barriers(page), []);
  });
}

test.serial('utterances of which none is unusual, and too few to compare', async (t) => {
  const { page } = await site.report(t, 'call.wav', wavFile(outburst(false).samples));
  const moments = page.getByRole('region', { name: 'Moments' });
  t.regex(await moments.innerText(), /Moments.*: none$/s);
  t.deepEqual(await barriers(page), []);
  const few = await site.report(t, 'short.wav', wavFile(samplesOf('speech.wav')));
  t.is(await few.page.getByRole('region', { name: 'Moments' }).count(), 0);
});

test.serial('the rest of the example leaves the focus, and an open scale, where they are', async (t) => {
  const { page } = await site.open(t, '/', { viewport: desktop });
  const { asked, release } = hold(page, '**/assets/call-*.ogg');
  await page.reload();
  await asked;
  const moments = page.getByRole('region', { name: 'Moments' }).getByRole('button', { name: 'Moments' });
  await moments.focus();
  await page.keyboard.press('Enter');
  t.is(await page.locator('.waveform').count(), 0, 'the answer needs no recording');
  release();
  await page.locator('.waveform').waitFor();
  t.true(await moments.evaluate((button) => button === document.activeElement));
  t.is(await bubble(page).count(), 1);
});

test.serial('the example is gone when a recording is refused', async (t) => {
  const { page } = await site.report(t, 'sample.wav', sample, { viewport: desktop });
  await chooseFile(page, 'notes.txt', Buffer.from('no sound'));
  await page.locator('#results').getByText('This format is not supported').waitFor();
  t.false(await page.getByText('A call of two synthetic voices').isVisible());
});

for (const [name, bytes, warnings] of [
  ['sample.wav', () => sample, 0],
  ['minute.wav', () => lecture(60), 1],
  ['call.wav', () => callOf(31), 0],
  ['interview.wav', interview, 2],
  ['poor.wav', poor, 6],
] as const) {
  test.serial(`the answer of ${name} fits the screen, and its result three`, async (t) => {
    const { page, said } = await site.report(t, name, bytes(), { viewport: desktop });
    const isShort = said.includes('Load and processing: uncertain');
    const shown = isShort ? ['Valence', 'Arousal', 'Clarity'] : scoreNames;
    for (const score of shown) t.true(said.includes(score), score);
    t.true((await page.locator('.warnings li').count()) >= warnings);
    const height = await page.locator('#results').evaluate((results) => results.scrollHeight);
    t.true(height <= 3 * desktop.height, `${height}`);
    for (const viewport of [desktop, phone]) {
      await page.setViewportSize(viewport);
      await page.locator('#results').evaluate((results) => results.scrollIntoView({ block: 'start' }));
      const { top, bottom } = await answerOf(page);
      t.true(top >= 0 && bottom <= viewport.height, `${viewport.width} px: ${top} to ${bottom}`);
      t.deepEqual(await cutTexts(page, '#results .summary'), [], `${viewport.width} px`);
    }
  });
}

test.serial('every number has the explanation of its scale, for screen readers too', async (t) => {
  const { page } = await site.report(t, 'sample.wav', sample, { viewport: desktop });
  for (const summary of await page.locator('#results summary').all()) await summary.click();
  for (const name of scoreNames) {
    const score = page.locator('.scores').getByRole('button', { name });
    const description = await score.evaluate(
      (button) => document.getElementById(button.getAttribute('aria-describedby') ?? '')?.textContent,
    );
    t.regex(description ?? '', /\b0 is .*\b1 is .* In 8 of 10 cases/, name);
  }
  t.regex(await page.locator('#results').innerText(), /English sentences read aloud by Mandarin speakers/);
  const unexplained = await page.evaluate(() =>
    ['.facts tr', '.headline-note', '.effects li', '.confidence', '.affect .card header']
      .flatMap((part) => [...document.querySelectorAll(`#results ${part}`)])
      .filter((part) => part.querySelector('button[aria-describedby]') === null)
      .map((part) => part.querySelector('th')?.textContent ?? part.textContent),
  );
  t.deepEqual(unexplained, ['Length', 'Format', 'Channels'], 'these have no scale');
});

test.serial('a scale opens and closes with the keyboard, and the focus stays', async (t) => {
  const { page } = await site.report(t, 'sample.wav', sample, { viewport: desktop });
  const clarity = page.locator('.scores').getByRole('button', { name: 'Clarity' });
  await page.locator('.scores').getByRole('button', { name: 'Cognitive load' }).focus();
  await page.keyboard.press('Tab');
  t.true(await clarity.evaluate((button) => button === document.activeElement), 'each score is a stop');
  for (const [opens, closes] of [
    ['Enter', 'Escape'],
    ['Space', 'Space'],
  ] as const) {
    await page.keyboard.press(opens);
    await bubble(page).filter({ hasText: '0 is hard to follow, 1 is clear' }).waitFor();
    await page.keyboard.press(closes);
    await bubble(page).waitFor({ state: 'detached' });
    t.true(await clarity.evaluate((button) => button === document.activeElement), closes);
  }
});

test.serial('a scale opens below the pointer, which may move onto it, and closes behind it', async (t) => {
  const { page } = await site.open(t, '/', { viewport: desktop });
  const valence = page.locator('.scores').getByRole('button', { name: 'Valence' });
  await valence.hover();
  await bubble(page).filter({ hasText: '0 is negative, 1 is positive' }).hover();
  t.is(await bubble(page).count(), 1);
  await page.mouse.move(5, 5);
  await bubble(page).waitFor({ state: 'detached' });
  await valence.hover();
  await valence.click();
  await page.mouse.move(5, 5);
  t.is(await bubble(page).count(), 1, 'after a click it stays');
  await page.mouse.click(5, 5);
  await bubble(page).waitFor({ state: 'detached' });
});

test.serial('a tap opens a scale inside a small window, and a tap elsewhere closes it', async (t) => {
  const { page, complaints } = await site.open(t, '/', { viewport: small, ...touch });
  await page.getByRole('region', { name: 'Example' }).locator('.waveform').waitFor();
  for (const button of await page.locator('#results [popovertarget]').all()) {
    if (!(await button.isVisible())) continue;
    await button.tap();
    const box = await bubble(page).boundingBox();
    const name = await button.innerText();
    t.true(box !== null && box.x >= 0 && box.x + box.width <= small.width, name);
    t.true(box !== null && box.y >= 0 && box.y + box.height <= small.height, name);
    await page.touchscreen.tap(2, 2);
    await bubble(page).waitFor({ state: 'detached' });
  }
  t.deepEqual(complaints, []);
});

test.serial('parts open with the keyboard, and all of them on paper', async (t) => {
  const { page } = await site.report(t, 'sample.wav', sample, { viewport: desktop });
  const parts = page.locator('#results details');
  const openParts = () => parts.evaluateAll((all) => all.filter((one) => one.hasAttribute('open')).length);
  t.is(await openParts(), 0);
  await page.locator('#results summary').filter({ hasText: 'Measures' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: 'Share of time in pauses' }).waitFor();
  await page.evaluate(() =>
    addEventListener('beforeprint', () => {
      const printed = [...document.querySelectorAll<HTMLDetailsElement>('#results details')];
      document.body.dataset.printed = String(printed.filter(({ open }) => open).length);
    }),
  );
  await page.pdf();
  t.is(await page.evaluate(() => document.body.dataset.printed), String(await parts.count()));
  t.is(await openParts(), 1, 'afterwards as before');
});

test.serial('on paper, colours are light and nothing scrolls', async (t) => {
  const { page } = await site.report(t, 'call.wav', callOf(31), { viewport: desktop });
  await page.emulateMedia({ colorScheme: 'dark', media: 'print' });
  await unfold(page, 'Utterances');
  await unfold(page, 'The response as JSON');
  const scrolling = await page
    .locator('.utterances, .code')
    .evaluateAll((boxes) =>
      boxes.filter((box) => box.checkVisibility() && box.scrollHeight > box.clientHeight + 1).map(String),
    );
  t.deepEqual(scrolling, []);
  const light = await page.evaluate(() => getComputedStyle(document.body).color);
  t.is(light, 'rgb(20, 32, 30)');
});

for (const colorScheme of ['light', 'dark'] as const) {
  test.serial(`axe finds no serious barrier on the playground, ${colorScheme}`, async (t) => {
    const start = await site.open(t, '/', { colorScheme });
    await start.page.getByRole('region', { name: 'Example' }).locator('.waveform').waitFor();
    await start.page.getByText('Paste a token').click();
    t.deepEqual(await barriers(start.page), [], 'nobody logged in');
    const { page, complaints } = await site.open(t, '/', { colorScheme });
    await pasteToken(page);
    await chooseFile(page, 'sample.wav', sample);
    await resultsOf(page, 'sample.wav');
    for (const summary of await page.locator('summary').all()) await summary.click();
    await page.getByRole('button', { name: 'Valence' }).first().click();
    // Before axe-core writes a style of its own to look into the waveform's shadow tree.
    t.deepEqual(complaints, []);
    t.deepEqual(await barriers(page), [], 'with results');
  });
}
