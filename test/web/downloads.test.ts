/** The CSV that the playground saves, of real reports. */
import test from 'ava';
import { fixture } from '../../scripts/recordings.ts';
import { toCsv } from '../../web/playground/downloads.ts';
import { reporter } from '../support/analysis.ts';

for (const set of ['standard', 'open']) {
  test(`the CSV has a line per utterance with models/${set}`, async (t) => {
    const report = await (await reporter(`models/${set}`))(fixture('speech.wav'));
    const [head = [], ...rows] = toCsv(report)
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
    const { timeline } = report.cognitive;
    t.true(timeline.length > 1);
    t.deepEqual(
      rows.map((row) => [row[0], row[1], row[head.indexOf('clarity')]].map(Number)),
      timeline.map(({ start_s, end_s, clarity }) => [start_s, end_s, clarity]),
    );
    t.deepEqual(
      rows.map((row) => row[head.indexOf('dominant_emotion')]),
      timeline.map((_, index) => report.emotion.timeline[index]?.dominant_emotion ?? ''),
    );
    t.true(rows.every((row) => row.length === head.length));
  });
}
