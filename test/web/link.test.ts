/** The link of `npm start` in a real browser. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openChromium, visit } from '../support/chromium.ts';
import { follow, startCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { barriers, chooseFile, resultsOf } from '../support/playground.ts';

/** A service that has printed its link, and a browser. */
async function welcome(t: ExecutionContext) {
  const env = { UNDERTONE_PORT: '0', UNDERTONE_WORKERS: '1', UNDERTONE_DATA_DIR: join(makeFolder(), 'data') };
  const service = follow(t, startCli(['serve', '--welcome'], { env }));
  const [, link = '', code = ''] = await service.printed(/^playground, .*: (\S+#code=(\S+))\n/m);
  const browser = await openChromium();
  t.teardown(() => browser.close());
  return { service, browser, link, home: link.replace(/#.*/, ''), code };
}

test('the link signs in once: an analysis, a reload, and the address without the code', async (t) => {
  const { service, browser, link, home, code } = await welcome(t);
  const { page, complaints } = await visit(t, browser, link);
  const panel = page.locator('#access');
  await panel.getByText('You are signed in by the link').waitFor();
  t.is(page.url(), home);
  await chooseFile(page, 'sample.wav', readFileSync('examples/sample.wav'));
  t.regex(await resultsOf(page, 'sample.wav'), /Sounds \w+/);
  await page.reload();
  await panel.getByText('You are signed in by the link').waitFor();
  // Before axe-core writes a style of its own to look into the waveform's shadow tree.
  t.deepEqual(complaints, []);
  t.deepEqual(await barriers(page), []);
  await page.goBack();
  t.false(page.url().includes(code), 'not in the history');

  const other = await visit(t, browser, link);
  await other.page.getByText('The link was not accepted').waitFor();
  t.is(other.page.url(), home);
  await other.page.goto(`${home}account`);
  await other.page.getByText('No account exists yet.').waitFor();
  await service.stop();
  t.false(service.stderr().includes(code));
});

test('a link that is opened in a tab of the playground signs it in, until it signs out', async (t) => {
  const { browser, link, home } = await welcome(t);
  const { page } = await visit(t, browser, home);
  await page.getByText('Paste a token').waitFor();
  await page.evaluate((address) => location.assign(address), link);
  await page.getByText('You are signed in by the link').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('Paste a token').waitFor();
  await page.reload();
  await page.getByText('Paste a token').waitFor();
  t.pass();
});
