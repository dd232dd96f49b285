/** What tests of the pages do in a browser. */
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { password } from './browser.ts';
import { staticToken } from './server.ts';

export async function pasteToken(page: Page, token = staticToken): Promise<void> {
  const input = page.getByLabel('Token', { exact: true });
  if (!(await input.isVisible())) await page.getByText('Paste a token').click();
  await input.fill(token);
  await page.getByRole('button', { name: 'Use this token' }).click();
}

/** Chooses a file in the recording panel, or in that of the baseline. */
export async function chooseFile(
  page: Page,
  name: string,
  bytes: Uint8Array,
  host = '#recording',
): Promise<void> {
  const file = { name, mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) };
  await page.locator(`${host} input[type=file]`).setInputFiles(file);
}

export async function signUp(page: Page, email: string): Promise<void> {
  await page.locator('#sign-up-email').fill(email);
  await page.locator('#sign-up-password').fill(password);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await page.locator('#make-token').waitFor();
}

/** The text of the results, once they contain the name. */
export const resultsOf = async (page: Page, name: string): Promise<string> => {
  const results = page.getByRole('region', { name: 'Results' });
  await results.getByText(name, { exact: false }).first().waitFor();
  return results.innerText();
};

/** On the API page, sends the sample with the form of an endpoint. @returns the body of the answer */
export async function sendSample(page: Page, operationId: string): Promise<string> {
  const endpoint = page.locator(`#${operationId}`);
  await endpoint.locator('> summary').click();
  await endpoint.getByRole('button', { name: 'Use the sample' }).click();
  await page.waitForFunction(
    (id) => document.querySelector<HTMLInputElement>(`#${id} input[data-name=audio]`)?.files?.length === 1,
    operationId,
  );
  await endpoint.getByRole('button', { name: 'Send' }).first().click();
  return endpoint.getByRole('group', { name: 'Body of the answer' }).innerText();
}
/** Opens a part of the results that is closed. */
export const unfold = (page: Page, title: string | RegExp): Promise<void> =>
  page.locator('#results summary').filter({ hasText: title }).click();

/** The JSON that the page shows. */
export async function shownReport(page: Page) {
  await unfold(page, 'The response as JSON');
  return JSON.parse(await page.getByRole('region', { name: 'JSON' }).innerText());
}

export const widthOf = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);

/** Moves on with Tab until the element that has the focus says this. */
export async function tabTo(page: Page, wanted: RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab');
    const says = await page.evaluate(() => {
      const { activeElement: at } = document;
      return `${at?.getAttribute('aria-label') ?? ''} ${at?.id ?? ''} ${at?.textContent ?? ''}`;
    });
    if (wanted.test(says)) return;
  }
  throw new Error(`Expected ${wanted} within reach of Tab, got nothing`);
}

/** Texts in `selector`, but those for screen readers alone and code, which scrolls, that the window or a box around them cuts off. */
export const cutTexts = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate((where) => {
    const cut: string[] = [];
    const walker = document.createTreeWalker(document.querySelector(where) as Node, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode;
      if (
        !text.parentElement?.checkVisibility() ||
        text.parentElement.closest('.visually-hidden, pre, .table-scroll')
      )
        continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      const lines = [...range.getClientRects()];
      let [left, right] = [0, document.documentElement.clientWidth];
      for (let around: Element | null = text.parentElement; around; around = around.parentElement) {
        if (getComputedStyle(around).overflowX === 'visible') continue;
        const box = around.getBoundingClientRect();
        [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      }
      if (lines.some((line) => line.left < left - 1 || line.right > right + 1))
        cut.push(text.textContent ?? '');
    }
    return cut;
  }, selector);

/** What axe-core calls serious or critical, as `rule: element`. */
export async function barriers(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)}`));
}

/** Holds the responses to `path` back. @returns what resolves with the first request, and a function that lets it go on */
export function hold(page: Page, path: string): { readonly asked: Promise<void>; release(): void } {
  let release = () => {};
  const asked = new Promise<void>((resolve) => {
    void page.route(path, async (route) => {
      await new Promise<void>((resume) => {
        release = resume;
        resolve();
      });
      await route.continue();
    });
  });
  return { asked, release: () => release() };
}

/** Chooses a file with a pasted token. @returns the text of its results */
export async function sendRecording(page: Page, name: string, bytes: Uint8Array): Promise<string> {
  await pasteToken(page);
  await chooseFile(page, name, bytes);
  return resultsOf(page, name);
}
