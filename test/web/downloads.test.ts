/** The CSV that the playground saves, of a real report. */
import test from 'ava';
import { fixture } from '../../scripts/recordings.ts';
import { toCsv } from '../../web/playground/downloads.ts';
import { reporter } from '../support/analysis.ts';

test('the CSV has a line per utterance', async (t) => {
  const { emotion } = await (await reporter())(fixture('speech.wav'));
  const [head = [], ...rows] = toCsv(emotion)
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  t.true(rows.length > 1);
  t.deepEqual(
    rows.map((row) => Object.fromEntries(head.map((name, column) => [name, row[column]]))),
    emotion.timeline.map(({ intervals: _, emotions, ...scores }) =>
      Object.fromEntries(
        Object.entries({ ...scores, ...emotions }).map(([name, value]) => [name, `${value}`]),
      ),
    ),
  );
});
