/** Two sets of models on one recording, in a real browser, against the built service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { CombinedReport } from '../../src/engine/report.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { affectFolder, exportedFolder, onnxFile, writeDullness } from '../support/onnx-source.ts';
import { barriers, widthOf } from '../support/playground.ts';
import { makeToken, startServer, staticToken } from '../support/server.ts';
import { startSite } from '../support/site.ts';

const mine = join(makeFolder(), 'mine');
const affect = join(makeFolder(), 'affect');
const source = exportedFolder(onnxFile({ write: writeDullness }));
const [added, affectAdded] = await Promise.all([
  runCli(['models', 'add', source, '--out', mine, '--models', 'fast']),
  runCli(['models', 'add', affectFolder(), '--out', affect, '--models', 'fast']),
]);
const site = startSite({ UNDERTONE_COMPARE_MODELS_DIR: mine });
const affectSite = startSite({ UNDERTONE_MODELS_DIR: affect });
const sample = readFileSync('examples/sample.wav');

async function post(url: string, bearer: string): Promise<{ status: number; body: CombinedReport }> {
  const form = new FormData();
  form.append('audio', new Blob([sample]));
  const headers = { Authorization: `Bearer ${bearer}` };
  const answer = await fetch(`${url}/playground/compare`, { method: 'POST', headers, body: form });
  return { status: answer.status, body: (await answer.json()) as CombinedReport };
}

test.serial('a recording is analysed again, and both sets stand side by side', async (t) => {
  t.is(added.code, 0, added.stderr);
  for (const width of [1440, 390]) {
    const viewport = { width, height: 900 };
    const { page, complaints } = await site.report(t, 'sample.wav', sample, { viewport });
    await page.getByRole('button', { name: 'Compare with the models mine' }).click();
    const card = page.locator('.comparison');
    await card.waitFor();
    const said = await card.innerText();
    t.regex(
      said,
      /standard: Sounds \w+\. \d+ % probable\.\s+mine: (No clear emotion|Sounds (neutral|angry))/,
    );
    t.regex(said, /Clarity\s+/);
    t.notRegex(said, /Valence/);
    t.notRegex(said, /happy/);
    t.is(await page.getByRole('button', { name: 'Compare with the models mine' }).count(), 0);
    t.true((await widthOf(page)) <= width);
    t.deepEqual(complaints, []);
    t.deepEqual(await barriers(page), []);
  }
});

test.serial('scores without an interval have a point and no band', async (t) => {
  t.is(affectAdded.code, 0, affectAdded.stderr);
  const { said, complaints } = await affectSite.report(t, 'sample.wav', sample);
  t.regex(said, /Valence\s+0\.\d\d\s+negative\s+positive\s+range unknown/);
  t.regex(said, /The diamond is the whole recording,/);
  t.deepEqual(complaints, []);
});

test('the answer is that of the second set, for tokens of both signals', async (t) => {
  const { server } = site;
  const { status, body } = await post(server.url, staticToken);
  t.is(status, 200);
  t.deepEqual(Object.keys(body.emotion.signals.emotions ?? {}), ['neutral', 'angry']);
  t.true(body.emotion.warnings.includes('uncalibrated'));
  t.is((await post(server.url, makeToken(server, 'analyze:emotion'))).status, 403);
});

test('without a second set there is no button and no path', async (t) => {
  const plain = await startServer(t);
  t.is((await post(plain.url, staticToken)).status, 404);
  t.regex(
    await (await fetch(plain.url)).text(),
    /<script type="application\/json" id="sets"[^>]*>null<\/script>/,
  );
});

test('a folder without a set is named at the start', async (t) => {
  const env = {
    UNDERTONE_COMPARE_MODELS_DIR: makeFolder(),
    UNDERTONE_PORT: '0',
    UNDERTONE_DATA_DIR: makeFolder(),
  };
  const { code, stderr } = await runCli(['serve'], { env });
  t.is(code, 2);
  t.regex(stderr, /^Expected .*UNDERTONE_COMPARE_MODELS_DIR/);
});
