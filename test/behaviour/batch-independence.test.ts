import test from 'ava';
import { fixture } from '../../scripts/recordings.ts';
import { reporter } from '../support/analysis.ts';

const files = ['mono-16k.wav', 'cbr.mp3', 'opus.webm'];

test('one analyzer, several recordings: each report is that of a new analyzer', async (t) => {
  const shared = await reporter();
  for (const name of [...files, ...files.toReversed()]) {
    const fresh = await reporter();
    t.deepEqual(await shared(fixture(name)), await fresh(fixture(name)), name);
  }
});
