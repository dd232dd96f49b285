/** The parts of the report of the playground in a real browser, against the built service. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { Page } from 'playwright-core';
import { wavFile } from '../../benchmarks/upload-body.ts';
import type { EmotionReport } from '../../src/engine/signals/emotion.ts';
import { analyze } from '../../src/tools/index.ts';
import { password } from '../support/browser.ts';
import {
  barriers,
  chooseFile,
  pasteToken,
  resultsOf,
  shownReport,
  signUp,
  unfold,
  widthOf,
} from '../support/playground.ts';
import { callOf, fast, lecture, outburst, talk } from '../support/recordings.ts';
import { startSite } from '../support/site.ts';

const site = startSite({ UNDERTONE_SIGNUP: 'open' });
/** Speech in which no emotion stands out. */
let unclear: Buffer;

test.before(async () => {
  unclear = await findUnclear();
});

/** The sample at the first speed at which it has low confidence. */
async function findUnclear(): Promise<Buffer> {
  for (const factor of [1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.1, 2.2]) {
    const played = fast(readFileSync('examples/sample.wav'), factor);
    const { emotion } = await analyze(played, { signals: ['emotion'] });
    if (emotion?.warnings.includes('low_confidence')) return played;
  }
  throw new Error('Expected a speed at which no emotion stands out, got none');
}

test.serial('under low confidence the headline names no emotion, but the two likeliest', async (t) => {
  const { said, complaints } = await site.report(t, 'fast.wav', unclear);
  t.regex(said, /No clear emotion\s+Likeliest: (\w+) \d+ %, (?!\1)\w+ \d+ %\./);
  t.notRegex(said, /Sounds \w+/);
  t.deepEqual(complaints, []);
});

test.serial('the plane is divided by the bounds of the tone', async (t) => {
  const { page } = await site.report(t, 'sample.wav', readFileSync('examples/sample.wav'));
  const { models } = (await (await fetch(`${site.server.url}/v1/models`)).json()) as {
    models: { kind: string; rule: { tone: Record<string, number> } }[];
  };
  const { tone = {} } = models.find(({ kind }) => kind === 'emotion')?.rule ?? {};
  const box = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((shape) => {
        const { y, height } = (shape as SVGGraphicsElement).getBBox();
        return { y, height };
      });
  const [ground, neutral] = [await box('.plane-ground'), await box('.plane-neutral')];
  const arousal = (y: number) => 1 - (y - ground.y) / ground.height;
  t.true(Math.abs(arousal(neutral.y) - (tone.highArousal ?? 0)) < 0.01);
  t.true(Math.abs(arousal(neutral.y + neutral.height) - (tone.lowArousal ?? 0)) < 0.01);
  const words = await page.locator('.plane-word').allTextContents();
  t.deepEqual(words.sort(), ['calm', 'distressed', 'engaged', 'neutral', 'subdued', 'tense']);
});

test.serial('the confidence of the cognitive signals is shown, and low confidence drawn', async (t) => {
  const { page, said } = await site.report(t, 'short.wav', lecture(6));
  t.regex(said, /Confidence 1\d %\. Low: the scores are drawn hollow\./);
  t.regex(said, /Too little speech for load and processing: their ranges are wide/);
  t.is(await page.locator('.score.uncertain').count(), 3);
  t.is(await page.locator('.effects li').count(), 5);
  t.notRegex(said, / than usual\.$/m);
  const folds = page.locator('#results details', { hasText: 'Load and processing: uncertain' });
  t.deepEqual(
    await folds.evaluateAll((all) => all.map((one) => one.querySelectorAll('.score').length)),
    [2, 0],
    'scores of load and processing, and what they are made of',
  );
  t.deepEqual(await folds.evaluateAll((all) => all.map((one) => (one as HTMLDetailsElement).open)), [
    false,
    false,
  ]);
  const long = await site.report(t, 'minute.wav', lecture(60));
  t.regex(long.said, /Confidence [3-9]\d %\. More speech raises it\./);
  t.is(await long.page.locator('.score.uncertain').count(), 0);
  const { pause_ratio: pauses, mean_run: run } = (await shownReport(long.page)).cognitive.measures;
  const { pause_ratio: usualPauses, mean_run: usualRun } = await references();
  t.is(usualPauses?.scale, 'odds');
  t.is(usualRun?.scale, 'inverse');
  const odds = (value: number) => value / (1 - value);
  const below = (ratio: number, spread = 0) => 1 / (1 + ratio ** (-1 / spread));
  const morePauses = below(odds(pauses.value) / odds(usualPauses?.median ?? 0), usualPauses?.spread);
  const longerRuns = below(run.value / (usualRun?.median ?? 0), usualRun?.spread);
  const words = (share: number, less: string, equal: string, more: string) => {
    const far = Math.min(share, 1 - share) < 0.1 ? 'far ' : '';
    const word = Math.min(share, 1 - share) >= 0.3 ? equal : share < 0.5 ? far + less : far + more;
    return new RegExp(`^${word} usual\\.$`, 'im');
  };
  t.regex(long.said, words(morePauses, 'fewer pauses than', 'about as many pauses as', 'more pauses than'));
  const runs = [
    'shorter stretches between pauses than',
    'stretches about as long between pauses as',
    'longer stretches between pauses than',
  ] as const;
  t.regex(long.said, words(longerRuns, ...runs));
});

type Reference = { readonly median: number; readonly spread: number; readonly scale: string };

/** The logistic distributions of the measures of the reference recordings, by measure. */
async function references(): Promise<Readonly<Record<string, Reference>>> {
  const { models } = (await (await fetch(`${site.server.url}/v1/models`)).json()) as {
    models: { kind: string; rule: { reference: Record<string, Reference> } }[];
  };
  return models.find(({ kind }) => kind === 'cognitive')?.rule.reference ?? {};
}

test.serial('bars of contributions share one scale', async (t) => {
  const { page } = await site.report(t, 'minute.wav', lecture(60));
  const scales = await page.locator('.effects li').evaluateAll((rows) =>
    rows.map((row) => {
      const effect = Number(row.querySelector('strong')?.textContent?.replace(/[−+]/, ''));
      return Number.parseFloat(row.querySelector<HTMLElement>('.effect-fill')?.style.width ?? '') / effect;
    }),
  );
  t.is(scales.length, 5);
  // Effects are printed with two digits: the largest are exact enough.
  const [least, most] = [Math.min(...scales.slice(0, 3)), Math.max(...scales.slice(0, 3))];
  t.true(most / least < 1.1, scales.join());
});

test.serial('the focus moves to the report without a ring', async (t) => {
  const { page } = await site.report(t, 'first.wav', readFileSync('examples/sample.wav'));
  // After a key, browsers draw the ring around an element that a script focuses.
  await page.locator('#results').evaluate((results) => (results as HTMLElement).blur());
  await page.keyboard.press('Tab');
  await chooseFile(page, 'sample.wav', readFileSync('examples/sample.wav'));
  await resultsOf(page, 'sample.wav');
  const focused = () => page.evaluate(() => document.activeElement?.id);
  t.is(await focused(), 'results');
  const outline = page.locator('#results').evaluate((results) => getComputedStyle(results).outlineStyle);
  t.is(await outline, 'none');
});

/** The times below the waveform. */
const timesOf = (page: Page) =>
  page
    .locator('.waveform [part~=timeline-notch]')
    .evaluateAll((marks) => marks.map((mark) => mark.textContent ?? '').filter((time) => time !== ''));

test.serial('a sound without speech is not described as a voice', async (t) => {
  const { page, said } = await site.report(t, 'hum.wav', hum());
  t.regex(said, /Too little speech/);
  t.notRegex(said, /quiet|telephone|Level of the speech/);
  t.deepEqual(await timesOf(page), ['0:00', '0:00.5', '0:01', '0:01.5', '0:02', '0:02.5']);
});

function hum(): Buffer {
  return wavFile(Float32Array.from({ length: 48_000 }, (_, at) => 0.002 * Math.sin((at * Math.PI) / 80)));
}

test.serial('an error of a form stands in the form', async (t) => {
  const { page } = await site.open(t, '/account');
  const form: ReturnType<Page['locator']> = page.locator('#log-in');
  await form.getByLabel('E-mail address').fill('nobody@example.org');
  await form.getByLabel('Password').fill('no such account');
  await form.getByRole('button').click();
  await form.getByText('No account has this address and password').waitFor();
  await form.getByLabel('Password').fill('another');
  t.is(await page.locator('#sign-up').getByRole('alert').count(), 0);
});

const share = (value: number) => `${Math.round(100 * value)} %`;

for (const [device, viewport] of [
  ['desktop', { width: 1440, height: 900 }],
  ['phone', { width: 390, height: 844 }],
] as const) {
  test.serial(`each utterance of a call is a block with its own scores, on a ${device}`, async (t) => {
    const { page, complaints } = await site.open(t, '/', { viewport });
    await pasteToken(page);
    await chooseFile(page, 'call.wav', callOf(31));
    await resultsOf(page, 'call.wav');
    // Faster and slower utterances may sound like a second voice.
    await page.getByLabel('Analyse').selectOption('average');
    await page.locator('.lane').first().waitFor({ state: 'detached' });
    const { emotion } = await shownReport(page);
    const { timeline, signals } = emotion as EmotionReport;
    t.true(timeline.length > 30);
    await unfold(page, `Utterances (${timeline.length})`);
    const blocks = await page
      .getByRole('toolbar', { name: 'Utterances' })
      .getByRole('button')
      .evaluateAll((all) =>
        all.map((block) => {
          const [shown, , said] = [...block.children] as [HTMLElement, HTMLElement, HTMLElement];
          const { width, height } = block.getBoundingClientRect();
          return {
            texts: { shown: shown.innerText, said: said.innerText, title: block.getAttribute('title') ?? '' },
            isCut: shown.scrollWidth > shown.clientWidth,
            side: Math.min(width, height),
          };
        }),
      );
    t.is(blocks.length, timeline.length);
    for (const [index, { dominant_emotion, emotions, valence, arousal }] of timeline.entries()) {
      const { texts, isCut, side } = blocks[index] as (typeof blocks)[number];
      const label = `${dominant_emotion} ${share(emotions[dominant_emotion] ?? 0)}`;
      t.is(texts.shown, label);
      t.true(texts.title.startsWith(label), texts.title);
      t.true(
        texts.title.includes(`valence ${valence?.toFixed(2)}, arousal ${arousal?.toFixed(2)}`),
        texts.title,
      );
      t.is(texts.said, texts.title);
      t.false(isCut, label);
      t.true(side >= 44, `${side}`);
    }
    const bars = await page.locator('.bars li').allInnerTexts();
    const probabilities = Object.entries(signals.emotions).map(([name, value]) => `${name} ${share(value)}`);
    t.deepEqual(bars.map((text) => text.replace(/\s+/, ' ')).sort(), probabilities.sort());
    const legend = await page.getByRole('list', { name: 'Colours of the utterances' }).innerText();
    for (const name of Object.keys(signals.emotions))
      t.is(
        legend.includes(name),
        timeline.some(({ emotions }) => (emotions[name] ?? 0) >= 0.02),
        name,
      );
    t.is(await widthOf(page), viewport.width);
    t.deepEqual(complaints, []);
    t.deepEqual(await barriers(page), []);
  });
}

test.serial('blocks of utterances are reached with the keyboard, and play', async (t) => {
  const { page, complaints } = await site.report(t, 'call.wav', wavFile(talk(['low'], 0.5).samples));
  const { timeline } = (await shownReport(page)).emotion as EmotionReport;
  await unfold(page, 'Utterances');
  const blocks = page.locator('button.utterance');
  const position = page.getByLabel('Position in seconds');
  const focused = () => blocks.evaluateAll((all) => all.indexOf(document.activeElement as HTMLElement));
  await page.getByRole('button', { name: 'most probable emotion' }).focus();
  await page.keyboard.press('Tab');
  t.is(await focused(), 0);
  await page.keyboard.press('End');
  t.is(await focused(), timeline.length - 1);
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  t.is(await focused(), 1);
  const { start_s, end_s } = timeline[1] as { start_s: number; end_s: number };
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  await page.locator('button.utterance.now').waitFor();
  t.is(await blocks.evaluateAll((all) => all.findIndex((one) => one.matches('.now'))), 1);
  const seconds = async () => Number(await position.inputValue());
  t.true((await seconds()) >= start_s - 0.1);
  await page.getByRole('button', { name: 'Play' }).waitFor();
  t.true(Math.abs((await seconds()) - end_s) < 0.3, `${await seconds()} at ${end_s}`);
  await page.keyboard.press('Tab');
  t.is(await focused(), -1, 'the blocks are one stop');
  t.deepEqual(complaints, []);
});

test.serial('minutes are shown with a block per utterance, a density and times such as 3:20', async (t) => {
  const { page, said, complaints } = await site.report(t, 'lecture.wav', lecture(200));
  t.regex(said, /lecture\.wav · 3:20/);
  t.deepEqual(await timesOf(page), ['0:00', '0:30', '1:00', '1:30', '2:00', '2:30', '3:00']);
  const { timeline } = (await shownReport(page)).emotion as EmotionReport;
  t.is(await page.locator('button.utterance').count(), timeline.length);
  t.is(await page.locator('.plane-stop').count(), 0);
  t.true((await page.locator('.plane-cell').count()) > 1);
  t.deepEqual(complaints, []);
});

test.serial('from the fifth utterance on, the table has the label for this voice', async (t) => {
  const { page } = await site.report(t, 'call.wav', wavFile(outburst(true).samples));
  await unfold(page, 'Utterances');
  const table = page.getByRole('region', { name: 'Values of each utterance' });
  const names = await table.getByRole('columnheader').allInnerTexts();
  const column = names.findIndex((name) => name.trim() === 'For this voice');
  const shown = await table.locator(`tbody td:nth-child(${column + 1})`).allInnerTexts();
  const { timeline }: EmotionReport = (await shownReport(page)).emotion;
  t.deepEqual(
    shown,
    timeline.map(({ relative }) => relative?.emotion ?? ''),
  );
  t.true(shown[0] === '' && shown.at(-1) !== '');
});

test.serial('a report is saved as JSON, CSV, annotations and a picture', async (t) => {
  const { page } = await site.report(t, 'call.wav', wavFile(outburst(true).samples));
  await unfold(page, 'Save the report');
  const saved = async (format: string) => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: format, exact: true }).click();
    const file = await download;
    return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
  };
  const json = await saved('JSON');
  t.is(json.name, 'call.json');
  const emotion: EmotionReport = JSON.parse(json.text).emotion;
  const [head = [], ...lines] = (await saved('CSV')).text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  t.deepEqual(
    lines.map((line) => Object.fromEntries(head.map((name, column) => [name, line[column]]))),
    rowsOf(emotion),
  );
  t.is(emotion.moments?.length, 1);
  const grid = await saved('Praat');
  t.is(grid.name, 'call.TextGrid');
  t.true(grid.text.startsWith('File type = "ooTextFile"\nObject class = "TextGrid"\n'));
  const labels = await saved('Audacity');
  t.is(labels.name, 'call.txt');
  t.is(labels.text.match(/\tutterance: /g)?.length, emotion.timeline.length);
  const picture = await saved('SVG');
  t.regex(picture.text, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  t.true(picture.text.includes('subdued'));
});

/** The columns of each utterance as text: its scores, the emotions, and how unusual it is. */
function rowsOf({ timeline, moments }: EmotionReport): Record<string, string>[] {
  return timeline.map(({ intervals: _, emotions, relative, ...scores }) => {
    const moment = moments?.find(({ start_s }) => start_s === scores.start_s);
    const changes = {
      valence_change: relative?.valence.change,
      arousal_change: relative?.arousal.change,
      relative_emotion: relative?.emotion,
      moment_spreads: moment?.differences[0]?.spreads,
    };
    const columns = Object.entries({ ...scores, ...emotions, ...changes });
    return Object.fromEntries(columns.map(([name, value]) => [name, `${value ?? ''}`]));
  });
}

test.serial('two recordings are compared by the difference of each score', async (t) => {
  const { page } = await site.report(t, 'sample.wav', readFileSync('examples/sample.wav'));
  const before = await shownReport(page);
  await page.getByRole('button', { name: 'Compare with the next recording' }).click();
  await chooseFile(page, 'fast.wav', unclear);
  const card = page.locator('.comparison');
  await card.waitFor();
  const after = await shownReport(page);
  const said = await card.innerText();
  t.regex(said, /sample\.wav: Sounds neutral\. \d+ % probable\.\s+fast\.wav: No clear emotion\. Likeliest:/);
  for (const [name, signal, key] of [
    ['Valence', 'emotion', 'valence'],
    ['Arousal', 'emotion', 'arousal'],
    ['Cognitive load', 'cognitive', 'cognitive_load'],
    ['Clarity', 'cognitive', 'clarity'],
    ['Processing', 'cognitive', 'processing'],
  ] as const) {
    const [old, now] = [before, after].map((one) => one[signal].signals);
    const tile = card.getByRole('button', { name });
    const text = await tile.innerText();
    const difference = now[key] - old[key];
    t.true(text.includes(`${old[key].toFixed(2)} → ${now[key].toFixed(2)}`), text);
    const size = Math.abs(difference).toFixed(2);
    t.true(text.includes(`${Number(size) === 0 ? '' : difference < 0 ? '−' : '+'}${size}`), text);
    const [oldRange, nowRange] = [old, now].map(({ intervals }) => intervals[key]);
    const isApart = oldRange[0] > nowRange[1] || nowRange[0] > oldRange[1];
    t.is(text.includes('ranges apart'), isApart, text);
  }
});

test.serial('a recording that waits is dropped after 15 minutes', async (t) => {
  const { page } = await site.open(t);
  await chooseFile(page, 'sample.wav', readFileSync('examples/sample.wav'));
  await page.getByText('sample.wav is ready').waitFor();
  await page.getByRole('link', { name: 'Log in or sign up' }).click();
  await page.waitForURL(`${site.server.url}/account`);
  t.is(await countPending(page), 1);
  await page.clock.setFixedTime(Date.now() + 16 * 60_000);
  await page.locator('#sign-up-email').fill('late@example.org');
  await page.locator('#sign-up-password').fill(password);
  await page.locator('#sign-up').getByRole('button').click();
  await page.getByRole('button', { name: 'Log out' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.id === 'token-name');
  t.is(page.url(), `${site.server.url}/account`);
  t.is(await countPending(page), 0);
});

for (const way of ['log-in', 'sign-up'] as const) {
  test.serial(`a recording that waits survives the ${way}, and is sent afterwards`, async (t) => {
    const { page } = await site.open(t, '/account');
    if (way === 'log-in') {
      await signUp(page, 'waiting@example.org');
      await page.context().clearCookies();
    }
    await page.goto(site.server.url);
    await chooseFile(page, 'sample.wav', readFileSync('examples/sample.wav'));
    await page.getByText('sample.wav is ready').waitFor();
    await page.getByRole('link', { name: 'Log in or sign up' }).click();
    await page.locator(`#${way}-email`).fill(way === 'log-in' ? 'waiting@example.org' : 'new@example.org');
    await page.locator(`#${way}-password`).fill(password);
    await page.locator(`#${way}`).getByRole('button').click();
    await page.waitForURL(`${site.server.url}/`);
    t.regex(await resultsOf(page, 'sample.wav'), /Sounds neutral/);
    await page.reload();
    await page.getByText('You are logged in').waitFor();
    await page.getByRole('region', { name: 'Example' }).waitFor();
    t.false(await page.getByRole('region', { name: 'Results' }).isVisible(), 'it is sent once');
  });
}

/** Recordings in the storage of the browser. */
function countPending(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const opening = indexedDB.open('undertone', 1);
        opening.onsuccess = () => {
          const count = opening.result.transaction('pending').objectStore('pending').count();
          count.onsuccess = () => {
            opening.result.close();
            resolve(count.result);
          };
        };
      }),
  );
}
