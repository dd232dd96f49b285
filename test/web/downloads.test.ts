/** The CSV that the playground saves, of a real report. */
import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { fixture } from '../../scripts/recordings.ts';
import { toCsv } from '../../web/playground/downloads.ts';
import { reporter } from '../support/analysis.ts';
import { outburst } from '../support/recordings.ts';

test('the CSV has a line per utterance', async (t) => {
  const { emotion } = await (await reporter())(fixture('speech.wav'));
  const [head = [], ...rows] = toCsv(emotion)
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  t.true(rows.length > 1);
  const unchanged = { valence_change: '', arousal_change: '' };
  t.deepEqual(
    rows.map((row) => Object.fromEntries(head.map((name, column) => [name, row[column]]))),
    emotion.timeline.map(({ intervals: _, emotions, relative: __, ...scores }) =>
      Object.fromEntries(
        Object.entries({ ...scores, ...emotions, ...unchanged, moment_spreads: '' }).map(([name, value]) => [
          name,
          `${value}`,
        ]),
      ),
    ),
  );
});

test('the line of a moment has its spreads', async (t) => {
  const { emotion } = await (await reporter())(wavFile(outburst(true).samples));
  const [head = '', ...lines] = toCsv(emotion).trimEnd().split('\r\n');
  t.true(head.endsWith(',moment_spreads'));
  const [moment] = emotion.moments;
  const own = lines.filter((line) => !line.endsWith(','));
  t.is(own.length, 1);
  const at = emotion.timeline.findIndex(({ start_s }) => start_s === moment?.start_s);
  const { valence, arousal } = emotion.timeline[at]?.relative ?? {};
  t.true(own[0]?.endsWith(`,${valence?.change},${arousal?.change},${moment?.differences[0]?.spreads}`));
  t.true(own[0]?.startsWith(`${moment?.start_s},`) && own[0].endsWith(`,${moment?.differences[0]?.spreads}`));
});
