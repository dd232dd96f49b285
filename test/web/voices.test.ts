/** Two voices of a recording on the page, in a real browser, against the built service. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { Page } from 'playwright-core';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { analyzeChannels } from '../../src/tools/index.ts';
import { stubAnalysis } from '../support/long-call.ts';
import { barriers, chooseFile, sendRecording, unfold, widthOf } from '../support/playground.ts';
import { call as callInStereo, fast, interview, talk } from '../support/recordings.ts';
import { startSite } from '../support/site.ts';

const site = startSite();

test.serial('channels that differ open as two voices, and their average warns', async (t) => {
  const { page, said, complaints } = await site.report(t, 'interview.wav', interview());
  t.regex(said, /Two voices[\s\S]*% of the talk/);
  t.notRegex(said, /The channels differ/);
  const choice = page.getByLabel('Analyse');
  t.is(await choice.inputValue(), 'split');
  await choice.selectOption('average');
  await page.getByText('The channels differ, and their average was analysed. Choose one below.').waitFor();
  await choice.selectOption('channel-1');
  await page.getByText('The channels differ').waitFor({ state: 'detached' });
  t.is(await choice.inputValue(), 'channel-1');
  t.deepEqual(complaints, []);
});

for (const [device, viewport] of [
  ['desktop', { width: 1440, height: 900 }],
  ['phone', { width: 390, height: 844 }],
] as const) {
  test.serial(`two voices on one channel have a lane, a name and scores each, on a ${device}`, async (t) => {
    const call = wavFile(talk(['low', 'high'], 0.5).samples);
    const { page, complaints } = await site.report(t, 'call.wav', call, { viewport });
    t.is(await page.getByLabel('Analyse').inputValue(), 'voices-2');
    const lanes = page.locator('.lane');
    const columns = await Promise.all(
      [0, 1].map((lane) => lanes.nth(lane).locator('.utterance-column').count()),
    );
    t.deepEqual(columns, [5, 5]);
    await page.getByLabel('Name of Speaker 2').fill('Customer');
    t.regex(await lanes.nth(1).innerText(), /^Customer/);
    const voices = page.getByRole('group', { name: 'Voice' }).getByRole('button');
    t.deepEqual(await voices.allInnerTexts(), ['Speaker 1', 'Customer']);
    const pitch = async () => {
      await unfold(page, 'Measures: what was timed');
      const text = await page.getByRole('row', { name: /^Pitch \d/ }).innerText();
      return Number(text.match(/[\d.]+/)?.[0]);
    };
    const low = await pitch();
    await voices.nth(1).click();
    t.is(await voices.nth(1).getAttribute('aria-pressed'), 'true');
    t.true((await pitch()) > low + 20);
    t.is(await widthOf(page), viewport.width);
    t.deepEqual(complaints, []);
    t.deepEqual(await barriers(page), []);
    await page.getByLabel('Analyse').selectOption('average');
    await page.getByText('The recording sounds like more than one speaker').waitFor();
  });
}

test.serial('a recording of one voice or two is analysed once', async (t) => {
  for (const [voices, said] of [
    [['low'], /valence/i],
    [['low', 'high'], /Two voices/],
  ] as const) {
    const { page } = await site.open(t);
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
    const shown = await sendRecording(page, 'talk.wav', wavFile(talk(voices, 0.5).samples));
    t.regex(shown, said);
    t.is(await page.getByLabel('Analyse').inputValue(), voices.length === 1 ? 'average' : 'voices-2');
    t.deepEqual(
      sent.filter((request) => request.startsWith('POST')),
      ['POST /v1/analyze'],
    );
  }
});

test.serial('the moments of two voices are one list, and each voice has files of its own', async (t) => {
  const { page, said } = await site.report(t, 'call.ogg', readFileSync('examples/call.ogg'));
  t.regex(said, /Channel 0 fearful at 0:31/);
  await page.getByLabel('Name of Channel 0').fill('Customer');
  t.regex(await page.locator('.moment-line').first().innerText(), /^Play\s*Customer\s*0:31/);
  await page.getByRole('group', { name: 'Voice' }).getByRole('button').nth(1).click();
  await unfold(page, 'Save the report');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Audacity', exact: true }).click();
  const file = await download;
  t.is(file.suggestedFilename(), 'call-channel-1.txt');
  t.regex(readFileSync(await file.path(), 'utf8'), /\tChannel 1 utterance: /);
});

test.serial(
  'the call is saved as a whole: rows, tiers and lanes of every voice, under the typed names',
  async (t) => {
    const { page, complaints } = await site.report(t, 'call.ogg', readFileSync('examples/call.ogg'));
    await page.getByLabel('Name of Channel 0').fill('=Customer, Ms');
    await unfold(page, 'Save the call');
    const buttons = page.getByRole('group', { name: 'Download the call' });
    const saved = async (label: string) => {
      const download = page.waitForEvent('download');
      await buttons.getByRole('button', { name: label }).click();
      return readFileSync(await (await download).path(), 'utf8');
    };
    const [head = '', ...rows] = (await saved('CSV')).trimEnd().split('\r\n');
    t.regex(head, /^speaker,start_s,end_s,valence,/);
    const channels = JSON.parse(await saved('JSON')).channels as { emotion: { timeline: unknown[] } }[];
    t.is(rows.length, channels.flatMap(({ emotion }) => emotion.timeline).length);
    const cells = rows.map((row) => /^("[^"]+"|[^,]+),([\d.]+),/.exec(row) ?? []);
    t.deepEqual([...new Set(cells.map(([, name]) => name))].sort(), [`"'=Customer, Ms"`, 'Channel 1']);
    const starts = cells.map(([, , start]) => Number(start));
    t.deepEqual(
      starts,
      starts.toSorted((one, other) => one - other),
    );
    const textGrid = await saved('Praat');
    for (const name of ['=Customer, Ms', 'Channel 1']) t.true(textGrid.includes(name), name);
    const picture = await saved('SVG');
    const texts = [...picture.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
    for (const text of ['=Customer, Ms', 'Channel 1', '0:05', 'fearful', 'arousal'])
      t.true(texts.includes(text), `${text}: ${texts}`);
    // Every utterance has a colour per emotion, two lines and two bands.
    t.true((picture.match(/<rect/g) ?? []).length > 8 * rows.length);
    t.notRegex(picture, /NaN|var\(|color\(/);
    t.deepEqual(complaints, []);
  },
);

/** A picture of the browser, by a click. */
async function savePng(page: Page): Promise<Buffer> {
  await unfold(page, 'Save the call');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'PNG' }).click();
  const file = await download;
  if (!file.suggestedFilename().endsWith('.png')) throw new Error(file.suggestedFilename());
  return readFileSync(await file.path());
}

/** Of each colour of a PNG, `red,green,blue,alpha`, how many pixels have it. */
const pixelsOf = (page: Page, png: Buffer): Promise<Readonly<Record<string, number>>> =>
  page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context?.drawImage(image, 0, 0);
    const pixels = context?.getImageData(0, 0, image.width, image.height).data ?? [];
    const counts: Record<string, number> = {};
    for (let at = 0; at < pixels.length; at += 4) {
      const colour = pixels.slice(at, at + 4).join();
      counts[colour] = (counts[colour] ?? 0) + 1;
    }
    return counts;
  }, png.toString('base64'));

for (const [colorScheme, ground, moment] of [
  ['light', '255,255,255,255', '20,32,30,255'],
  ['dark', '22,29,28,255', '231,238,236,255'],
] as const)
  test.serial(`the lanes are saved as a PNG in the colours of the page, ${colorScheme}`, async (t) => {
    const { page, complaints } = await site.open(t, '/', { colorScheme });
    await page.getByRole('region', { name: 'Example' }).locator('.waveform').waitFor();
    const png = await savePng(page);
    t.is(png.toString('latin1', 0, 8), '\x89PNG\r\n\x1a\n');
    t.is(png.toString('latin1', 12, 16), 'IHDR');
    t.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [2464, 704]);
    const pixels = await pixelsOf(page, png);
    const [most] = Object.entries(pixels).toSorted(([, one], [, other]) => other - one);
    t.is(most?.[0], ground);
    t.true(Object.keys(pixels).length > 20);
    t.true((pixels[moment] ?? 0) > 20, 'the moment has its mark');
    t.deepEqual(complaints, []);
  });

test.serial('lanes that are too many for a canvas are offered as SVG', async (t) => {
  const call = await analyzeChannels(readFileSync('examples/call.ogg'));
  const speakers = Array.from({ length: 250 }, (_, speaker) => ({ ...call.channels[0], speaker }));
  const { page, complaints } = await site.open(t);
  await stubAnalysis(page, { ...call, channels: undefined, conversation: undefined, speakers });
  await sendRecording(page, 'crowd.wav', readFileSync('examples/sample.wav'));
  await unfold(page, 'Save the call');
  await page.getByRole('button', { name: 'PNG' }).click();
  await page.getByText('The picture is too large for this browser: save it as SVG.').waitFor();
  t.deepEqual(complaints, []);
});

test.serial('two calls are compared: lanes on one time axis, and the clear differences first', async (t) => {
  const bytes = [callInStereo(), fast(callInStereo(), 2.2)] as const;
  const [before, after] = await Promise.all(bytes.map((one) => analyzeChannels(one)));
  if (before === undefined || after === undefined) return t.fail();
  const { page, complaints } = await site.report(t, 'first.wav', bytes[0]);
  await page.getByRole('button', { name: 'Compare with the next recording' }).click();
  await chooseFile(page, 'second.wav', bytes[1]);
  const card = page.locator('section.card', { hasText: 'Side by side' });
  await card.waitFor();
  const lanes = card.locator('.lane');
  t.deepEqual(
    (await lanes.allInnerTexts()).map((text) => text.split('\n')[0]),
    ['first.wav', 'second.wav'].flatMap((name) => [`${name} · Channel 0`, `${name} · Channel 1`]),
  );
  const longest = Math.max(before.audio.duration_s, after.audio.duration_s);
  for (const [index, { emotion }] of [...before.channels, ...after.channels].entries()) {
    const left = await lanes
      .nth(index)
      .locator('.utterance-column')
      .last()
      .evaluate((column) => Number.parseFloat((column as HTMLElement).style.left));
    const start = emotion.timeline.at(-1)?.start_s ?? 0;
    t.true(Math.abs(left - (100 * start) / longest) < 0.01, `${left} of ${start} s`);
  }
  const rows = await card
    .locator('tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));
  t.deepEqual(
    rows.map((row) => row[5]),
    rows
      .map((row) => row[5])
      .toSorted((one = '', other = '') => (one === other ? 0 : one === 'differs' ? -1 : 1)),
  );
  t.true(rows.some((row) => row[5] === 'differs') && rows.some((row) => row[5] === 'may be chance'));
  for (const [index, channel] of before.channels.entries()) {
    const [old, now] = [channel, after.channels[index] as typeof channel].map(
      ({ emotion }) => emotion.signals,
    );
    if (old?.valence == null || now?.valence == null) return t.fail();
    const row = rows.find(([voice, title]) => voice === `Channel ${index}` && title === 'Valence') ?? [];
    t.deepEqual(row.slice(2, 4), [old.valence.toFixed(2), now.valence.toFixed(2)]);
    const ranges = [old, now].map(({ intervals }) => intervals.valence ?? [0, 1]);
    const [[low, high], [nowLow, nowHigh]] = ranges as [[number, number], [number, number]];
    t.is(row[5] === 'differs', low > nowHigh || nowLow > high);
  }
  t.deepEqual(complaints, []);
  t.deepEqual(await barriers(page), []);
});
