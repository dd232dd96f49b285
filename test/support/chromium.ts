/** Debian's Chromium, with a name for this machine that is not localhost. */
import { existsSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { ceilingMs } from './wait.ts';

/** Resolves to 127.0.0.1, and is no secure context over plain http. */
export const plainHost = 'undertone.test';

export type Visit = {
  readonly page: Page;
  /** What the console said of errors, violations of the policy among them, but for refused requests. */
  readonly complaints: readonly string[];
};

export const executablePath = '/usr/bin/chromium';
/** False on Ubuntu, which has Chromium as a snap only. */
export const hasChromium = existsSync(executablePath);

export function openChromium(...more: readonly string[]): Promise<Browser> {
  return chromium.launch({
    executablePath,
    timeout: ceilingMs,
    args: ['--no-sandbox', `--host-resolver-rules=MAP ${plainHost} 127.0.0.1`, ...more],
  });
}

/** A microphone that plays a WAV file and needs no permission. */
export const microphone = (path: string): string[] => [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  `--use-file-for-fake-audio-capture=${path}`,
];

/** A tab of a browser that has never been here. */
export async function visit(
  t: Pick<ExecutionContext, 'teardown'>,
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext(options);
  t.teardown(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(ceilingMs);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) complaints.push(text);
  });
  await page.goto(url);
  return { page, complaints };
}
