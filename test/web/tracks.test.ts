/** Audio tracks of a recording on the page, in a real browser, against the built service. */
import test from 'ava';
import { fixture } from '../../scripts/recordings.ts';
import { shownReport } from '../support/playground.ts';
import { startSite } from '../support/site.ts';

const site = startSite();

test.serial(
  'a recording with several tracks says so, and the page analyses the one that is chosen',
  async (t) => {
    const { page, said, complaints } = await site.report(
      t,
      'tracks.m4a',
      Buffer.from(fixture('tracks-tone.m4a')),
    );
    t.regex(said, /Too little speech/);
    const hint = page.getByText(
      'The file has other audio tracks, and one of them was analysed. Choose another below.',
    );
    await hint.waitFor();
    const choice = page.getByLabel('Analyse');
    t.deepEqual((await choice.locator('option').allInnerTexts()).slice(-2), [
      'audio track 0',
      'audio track 1',
    ]);
    await choice.selectOption('track-1');
    await hint.waitFor({ state: 'detached' });
    t.is(await choice.inputValue(), 'track-1');
    t.like((await shownReport(page)).audio, { track: 1, tracks: 2 });
    t.deepEqual(complaints, []);
  },
);
