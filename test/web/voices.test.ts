/** Two voices of a recording on the page, in a real browser, against the built service. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { barriers, sendRecording, unfold, widthOf } from '../support/playground.ts';
import { interview, talk } from '../support/recordings.ts';
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
