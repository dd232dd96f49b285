/** `npm run screenshots`: the pages in every state and both themes, as pictures in build/screenshots. */
import { mkdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { wavFile } from '../../benchmarks/wav.ts';
import { fixture } from '../../scripts/recordings.ts';
import { requireFile, requireNames, runScript } from '../../scripts/run-script.ts';
import { executablePath, openChromium, visit } from '../support/chromium.ts';
import { chooseFile, pasteToken, resultsOf, sendSample, signUp } from '../support/playground.ts';
import { callOf, lecture } from '../support/recordings.ts';
import { requireBuild, startServer } from '../support/server.ts';

const folder = 'build/screenshots';
const desktop = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };

type State = {
  readonly name: string;
  readonly path?: string;
  readonly viewport?: typeof desktop;
  readonly reach?: (page: Page, theme: string) => Promise<unknown>;
};

const report = (name: string, bytes: () => Uint8Array) => async (page: Page) => {
  await pasteToken(page);
  await chooseFile(page, name, bytes());
  await resultsOf(page, name);
};

/** An answer on the API page. */
const answer = async (page: Page) => {
  await pasteToken(page);
  await sendSample(page, 'analyze');
};

const states: readonly State[] = [
  { name: 'first-view' },
  {
    name: 'waiting-for-log-in',
    reach: async (page) => {
      await chooseFile(page, 'sample.wav', readFileSync('examples/sample.wav'));
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
  { name: 'report-of-seconds', reach: report('sample.wav', () => readFileSync('examples/sample.wav')) },
  { name: 'report-of-a-minute', reach: report('minute.wav', () => lecture(60)) },
  { name: 'report-of-a-call', reach: report('call.wav', () => callOf(31)) },
  { name: 'report-of-minutes', reach: report('minutes.wav', () => lecture(600)) },
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
  { name: 'api', path: '/docs', reach: (page) => page.locator('#token').waitFor() },
  { name: 'api-answer', path: '/docs', reach: answer },
  { name: 'phone-first-view', viewport: phone },
  { name: 'phone-report', viewport: phone, reach: report('minute.wav', () => lecture(60)) },
  { name: 'phone-api-answer', path: '/docs', viewport: phone, reach: answer },
  { name: 'phone-report-of-a-call', viewport: phone, reach: report('call.wav', () => callOf(31)) },
];

await runScript(async () => {
  const { positionals } = parseArgs({ allowPositionals: true });
  requireNames(
    states.map(({ name }) => name),
    positionals,
  );
  requireFile(executablePath, 'install the Debian package chromium');
  requireBuild();
  const closers: (() => unknown)[] = [];
  const scope = { teardown: (close: () => unknown) => closers.push(close) };
  const server = await startServer(scope, { UNDERTONE_SIGNUP: 'open' });
  const browser = await openChromium();
  mkdirSync(folder, { recursive: true });
  for (const { name, path = '/', viewport = desktop, reach } of states) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await visit(scope, browser, server.url + path, { viewport, colorScheme });
      await reach?.(page, colorScheme);
      await page.waitForTimeout(800);
      await page.screenshot({ path: `${folder}/${name}-${colorScheme}.png` });
      await page.screenshot({ path: `${folder}/${name}-${colorScheme}-whole.png`, fullPage: true });
      await page.context().close();
    }
  }
  await browser.close();
  for (const close of closers.reverse()) await close();
});
