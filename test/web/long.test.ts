/** Recordings above the limits of a request: the page sends them as jobs. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { openChromium, visit } from '../support/chromium.ts';
import { call } from '../support/http.ts';
import { chooseFile, pasteToken, resultsOf } from '../support/playground.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/wait.ts';

const sample = readFileSync('examples/sample.wav');

test.serial(
  'a recording above the limit of a request has its result, and nothing of its job stays',
  async (t) => {
    const browser = await openChromium();
    t.teardown(() => browser.close());
    for (const [jobs, expected] of [
      ['1', 'sample.wav'],
      ['0', 'The recording is too long'],
    ] as const) {
      const server = await startServer(t, { UNDERTONE_MAX_SECONDS: '20', UNDERTONE_JOB_WORKERS: jobs });
      const { page, complaints } = await visit(t, browser, server.url);
      await pasteToken(page);
      await chooseFile(page, 'sample.wav', sample);
      if (jobs === '1') t.regex(await resultsOf(page, expected), /valence/i);
      else await page.getByText(expected, { exact: true }).waitFor();
      const headers = { Authorization: `Bearer ${server.token}` };
      const list = async () => (await call(server.port, { path: '/v1/jobs', headers })).body;
      if (jobs === '1') await until(async () => JSON.parse(await list()).jobs.length === 0);
      t.deepEqual(
        complaints.filter((line) => !/422|501/.test(line)),
        [],
      );
    }
  },
);
