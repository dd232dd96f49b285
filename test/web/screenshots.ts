/**
 * `npm run screenshots`: the pages in every state and both themes, as pictures in build/screenshots; `--width 390` those of a phone. With
 * `--documents`: the pictures of the documents, in docs/pictures.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { fixture } from '../../scripts/recordings.ts';
import { requireFile, requireNames, runScript } from '../../scripts/run-script.ts';
import { analyzeChannels } from '../../src/tools/index.ts';
import { executablePath, microphone, openChromium, visit } from '../support/chromium.ts';
import { makeFolder } from '../support/folder.ts';
import { beeps, hourSeconds, repeatCall, stubAnalysis } from '../support/long-call.ts';
import { chooseFile, pasteToken, sendRecording, sendSample, signUp } from '../support/playground.ts';
import { callOf, interview, lecture, outburst, poor, talk } from '../support/recordings.ts';
import { requireBuild, type Server, startServer } from '../support/server.ts';

const folder = 'build/screenshots';
/** Height of the window by its width. */
const heights: Readonly<Record<string, number>> = { 1920: 1080, 1440: 900, 390: 844, 320: 640 };
const document = { width: 1100, height: 1010 };
/** As pages that link to a repository show it. */
const social = { width: 1280, height: 640 };
const sample = 'examples/sample.wav';

type State = {
  readonly name: string;
  readonly path?: string;
  readonly reach?: (page: Page, theme: string) => Promise<unknown>;
};

const report = (name: string, bytes: () => Uint8Array) => (page: Page) => sendRecording(page, name, bytes());

/** An answer on the API page. */
const answer = async (page: Page) => {
  await pasteToken(page);
  await sendSample(page, 'analyze');
};

const showExample = (page: Page) =>
  page.getByRole('region', { name: 'Example' }).locator('.waveform').waitFor();

const showLive = async (page: Page) => {
  await pasteToken(page);
  await page.getByRole('button', { name: 'Live' }).click();
  await page.locator('.utterance[data-emotion]').nth(3).waitFor();
};

const showCall = report('call.ogg', () => readFileSync('examples/call.ogg'));

const showHour = async (page: Page) => {
  const call = await analyzeChannels(readFileSync('examples/call.ogg'));
  await stubAnalysis(page, repeatCall(call, hourSeconds));
  await sendRecording(page, 'hour.wav', beeps(hourSeconds));
};

const compareSets = async (page: Page) => {
  await report('sample.wav', () => readFileSync(sample))(page);
  await page.getByRole('button', { name: 'Compare with the models fast' }).click();
  const card = page.locator('section:has(> .comparison)');
  await card.waitFor();
  await card.evaluate((section) => section.scrollIntoView({ block: 'end' }));
};

const states: readonly State[] = [
  { name: 'first-view', reach: showExample },
  {
    name: 'waiting-for-log-in',
    reach: async (page) => {
      await chooseFile(page, 'sample.wav', readFileSync(sample));
      await page.getByText('sample.wav is ready').waitFor();
    },
  },
  { name: 'log-in', path: '/account' },
  {
    name: 'account',
    path: '/account',
    reach: (page, theme) => signUp(page, `${theme}@example.org`),
  },
  { name: 'trust', path: '/trust' },
  { name: 'report-of-seconds', reach: report('sample.wav', () => readFileSync(sample)) },
  { name: 'report-of-a-minute', reach: report('minute.wav', () => lecture(60)) },
  { name: 'report-of-a-call', reach: report('call.wav', () => callOf(31)) },
  { name: 'report-of-minutes', reach: report('minutes.wav', () => lecture(600)) },
  { name: 'report-of-two-channels', reach: report('interview.wav', interview) },
  {
    name: 'report-of-two-voices',
    reach: report('call.wav', () => wavFile(talk(['low', 'high'], 0.5).samples)),
  },
  { name: 'report-of-a-call-in-stereo', reach: showCall },
  { name: 'report-of-an-hour', reach: showHour },
  {
    name: 'a-minute-of-an-hour',
    reach: async (page) => {
      await showHour(page);
      await page.getByRole('button', { name: '1 min', exact: true }).click();
    },
  },
  { name: 'report-with-warnings', reach: report('poor.wav', poor) },
  { name: 'report-with-moments', reach: report('call.wav', () => wavFile(outburst(true).samples)) },
  {
    name: 'comparison',
    reach: async (page) => {
      await report('sample.wav', () => readFileSync(sample))(page);
      await page.getByRole('button', { name: 'Compare with the next recording' }).click();
      await chooseFile(page, 'minute.wav', lecture(60));
      await page.locator('.comparison').waitFor();
    },
  },
  { name: 'two-sets', reach: compareSets },
  { name: 'live', reach: showLive },
  { name: 'no-speech', reach: report('silence.wav', () => wavFile(new Float32Array(32_000))) },
  {
    name: 'error',
    reach: async (page) => {
      await pasteToken(page);
      await chooseFile(page, 'notes.txt', Buffer.from('no sound'));
      await page.locator('#results').getByText('This format is not supported').waitFor();
    },
  },
  { name: 'no-waveform', reach: report('call.amr', () => fixture('speech.amr')) },
  { name: 'api', path: '/docs', reach: (page) => page.getByText('Paste a token').waitFor() },
  { name: 'api-answer', path: '/docs', reach: answer },
];

const scope = { teardown: (close: () => unknown) => closers.push(close) };
const closers: (() => unknown)[] = [];

/** A tab in which nothing moves any more. */
async function settle(
  browser: Browser,
  { url }: Server,
  { path = '/', reach }: State,
  theme: 'light' | 'dark',
  viewport: { readonly width: number; readonly height: number },
): Promise<Page> {
  const { page } = await visit(scope, browser, url + path, { viewport, colorScheme: theme });
  await reach?.(page, theme);
  await page.waitForTimeout(800);
  return page;
}

async function drawStates(
  browser: Browser,
  server: Server,
  names: readonly string[],
  width: string,
): Promise<void> {
  const viewport = { width: Number(width), height: heights[width] as number };
  mkdirSync(folder, { recursive: true });
  for (const state of states) {
    if (names.length > 0 && !names.includes(state.name)) continue;
    for (const theme of ['light', 'dark'] as const) {
      const page = await settle(browser, server, state, theme, viewport);
      const file = `${folder}/${state.name}-${width}-${theme}`;
      await page.screenshot({ path: `${file}.png` });
      await page.screenshot({ path: `${file}-whole.png`, fullPage: true });
      await page.context().close();
    }
  }
}

async function drawDocuments(browser: Browser, server: Server): Promise<void> {
  for (const [name, reach, viewport] of [
    ['playground', showExample, document],
    ['live', showLive, document],
    ['call', showCall, document],
    ['sets', compareSets, document],
    ['social', showExample, social],
  ] as const) {
    const page = await settle(browser, server, { name, reach }, 'light', viewport);
    await page.screenshot({ path: `docs/pictures/${name}.png` });
    await page.context().close();
  }
}

await runScript(async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      documents: { type: 'boolean', default: false },
      width: { type: 'string', default: '1440' },
    },
  });
  requireNames(
    states.map(({ name }) => name),
    positionals,
  );
  requireNames(Object.keys(heights), [values.width]);
  requireFile(executablePath, 'install the Debian package chromium');
  requireBuild();
  const server = await startServer(scope, {
    UNDERTONE_SIGNUP: 'open',
    UNDERTONE_COMPARE_MODELS_DIR: 'models/fast',
  });
  const spoken = join(makeFolder(), 'talk.wav');
  writeFileSync(spoken, wavFile(talk(['low', 'high'], 0.5).samples));
  const browser = await openChromium(...microphone(spoken));
  await (values.documents
    ? drawDocuments(browser, server)
    : drawStates(browser, server, positionals, values.width));
  await browser.close();
  for (const close of closers.reverse()) await close();
});
