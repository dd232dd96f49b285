/** The time axis of the waveform and the lanes, in a real browser, against the built service. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { Page } from 'playwright-core';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { analyzeChannels } from '../../src/tools/index.ts';
import { beeps, hourSeconds, repeatCall, stubAnalysis } from '../support/long-call.ts';
import { barriers, sendRecording, shownReport, widthOf } from '../support/playground.ts';
import { lecture, outburst } from '../support/recordings.ts';
import { startSite } from '../support/site.ts';

const site = startSite();

const devices = [
  ['desktop', { width: 1440, height: 900 }],
  ['phone', { width: 390, height: 844 }],
] as const;

const partButton = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Part in view' }).getByRole('button', { name, exact: true });

/** Where the lanes and the waveform are scrolled to, and the widths of the lanes, px. */
const axisOf = (page: Page) =>
  page.locator('.axis').evaluate((axis) => {
    const host = document.querySelector('.waveform > div');
    const waveform = host?.shadowRoot?.querySelector('[part=scroll]');
    const { scrollLeft: left, clientWidth: width, scrollWidth: content } = axis;
    return { left, width, content, waveformLeft: waveform?.scrollLeft ?? -1 };
  });

/** Resolves once the lanes show this time, and the waveform is scrolled alike. */
const untilShown = (page: Page, seconds: number, duration: number) =>
  page.waitForFunction(
    ([at, whole]) => {
      const axis = document.querySelector('.axis') as HTMLElement;
      const host = document.querySelector('.waveform > div');
      const waveform = host?.shadowRoot?.querySelector('[part=scroll]');
      const px = (at / whole) * axis.scrollWidth - axis.scrollLeft;
      const isAlike = Math.abs((waveform?.scrollLeft ?? -9) - axis.scrollLeft) <= 1;
      return isAlike && px >= -1 && px <= axis.clientWidth + 1;
    },
    [seconds, duration] as const,
  );

const secondsOf = async (page: Page) => Number(await page.getByLabel('Position in seconds').inputValue());

for (const [device, viewport] of devices)
  test.serial(`a part of a recording of minutes scrolls under the waveform, on a ${device}`, async (t) => {
    const duration = 200;
    const { page, complaints } = await site.report(t, 'minutes.wav', lecture(duration), { viewport });
    const { timeline } = (await shownReport(page)).emotion;
    t.is(await partButton(page, '10 min').count(), 0);
    t.is((await axisOf(page)).content, (await axisOf(page)).width);
    await partButton(page, '1 min').click();
    t.is(await partButton(page, '1 min').getAttribute('aria-pressed'), 'true');
    const { width, content } = await axisOf(page);
    t.true(Math.abs(content / width - duration / 60) < 0.02, `${content} of ${width}`);
    t.is(await page.locator('.utterance-column').count(), timeline.length);
    const position = page.getByText(/^\d+:\d\d to \d+:\d\d$/);
    t.is(await position.innerText(), '0:00 to 1:00');
    await page.getByRole('button', { name: 'Later' }).click();
    t.is(await position.innerText(), '1:00 to 2:00');
    await untilShown(page, 60, duration);
    const { left } = await axisOf(page);
    await page.locator('.axis').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction((before) => (document.querySelector('.axis')?.scrollLeft ?? 0) > before, left);
    await partButton(page, 'Whole recording').click();
    await page.waitForFunction(() => {
      const axis = document.querySelector('.axis') as HTMLElement;
      return axis.scrollWidth === axis.clientWidth;
    });
    t.is(await page.getByRole('button', { name: 'Later' }).isVisible(), false);

    await partButton(page, '1 min').click();
    await page.locator('summary', { hasText: 'Utterances' }).click();
    const last = timeline.at(-1);
    await page.locator('button.utterance').last().click();
    await untilShown(page, last.start_s, duration);
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    const column = page.locator('.utterance-column').nth(-2);
    await column.click();
    await page.waitForFunction((start) => {
      const slider = document.querySelector('input[type=range]') as HTMLInputElement;
      return Number(slider.value) >= start - 0.1 && Number(slider.value) < start + 2;
    }, timeline.at(-2).start_s);
    t.is(await widthOf(page), viewport.width);
    t.deepEqual(complaints, []);
    t.deepEqual(await barriers(page), []);
  });

test.serial('a moment is a mark on the time axis, which plays it', async (t) => {
  const { page, complaints } = await site.report(t, 'call.wav', wavFile(outburst(true).samples));
  const [moment] = (await shownReport(page)).emotion.moments;
  const marks = page.getByRole('toolbar', { name: 'Moments in time' }).getByRole('button');
  t.is(await marks.count(), 1);
  t.regex(
    (await marks.getAttribute('aria-label')) ?? '',
    new RegExp(`^${moment.emotion} 0:\\d\\d, \\d+ % probable$`),
  );
  t.is(await page.getByRole('group', { name: 'Part in view' }).count(), 0);
  await marks.press('Enter');
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  await page.locator('.utterance-column.moment.now').waitFor();
  t.true((await secondsOf(page)) >= moment.start_s - 0.1);
  t.deepEqual(complaints, []);
});

for (const [device, viewport] of devices)
  test.serial(
    `an hour of two voices has bars of several utterances and every moment, on a ${device}`,
    async (t) => {
      const call = await analyzeChannels(readFileSync('examples/call.ogg'));
      const hour = repeatCall(call, hourSeconds);
      const all = hour.channels.flatMap(({ emotion }) => emotion.timeline);
      const moments = hour.channels.flatMap(({ emotion }) => emotion.moments ?? []);
      t.true(all.length > 700 && moments.length > 5);
      const { page, complaints } = await site.open(t, '/', { viewport });
      await stubAnalysis(page, hour);
      await sendRecording(page, 'hour.wav', beeps(hourSeconds));
      const columns = page.locator('.utterance-column');
      const note = page.getByText('Each bar is several utterances');
      await note.waitFor();
      const { width } = await axisOf(page);
      t.true((await columns.count()) < (2 * width) / 5 + 2 * moments.length, `${await columns.count()}`);
      t.is(await page.locator('.utterance-column.moment').count(), moments.length);
      const marks = page.getByRole('toolbar', { name: 'Moments in time' }).getByRole('button');
      t.is(await marks.count(), moments.length);
      const labels = await marks.evaluateAll((shown) =>
        shown.flatMap((mark) => {
          const label = mark.querySelector('span') as HTMLElement;
          const { left, right, width: size } = label.getBoundingClientRect();
          return size === 0 ? [] : [{ left, right }];
        }),
      );
      for (const [index, { left }] of labels.entries())
        t.true(left >= (labels[index - 1]?.right ?? 0), 'labels do not cover one another');

      await partButton(page, '1 min').click();
      t.false(await note.isVisible());
      t.is(await columns.count(), all.length);
      await marks.first().focus();
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      const start = moments.at(-1)?.start_s ?? 0;
      await untilShown(page, start, hourSeconds);
      await page.waitForFunction(
        (at) => Number((document.querySelector('input[type=range]') as HTMLInputElement).value) >= at - 0.1,
        start,
      );
      t.is(await widthOf(page), viewport.width);
      t.deepEqual(complaints, []);
      t.deepEqual(await barriers(page), []);
      await partButton(page, 'Whole recording').click();
      t.deepEqual(await barriers(page), []);
    },
  );
