/** Utterances that are drawn as one. */
import test from 'ava';
import { affectOf, createBins, meanOf } from '../../web/playground/bins.ts';
import type { Emotion } from '../../web/playground/report.ts';

type Utterance = Emotion['timeline'][number];

const utterance = (
  start_s: number,
  end_s: number,
  valence: number | null = 0.5,
  interval: readonly [number, number] | null = [0.4, 0.6],
) =>
  ({ start_s, end_s, valence, arousal: null, intervals: { valence: interval, arousal: null } }) as Utterance;

const spansOf = (...all: Parameters<typeof createBins>) =>
  createBins(...all).map(({ start_s, end_s, utterances }) => [start_s, end_s, utterances.length]);

test('utterances are joined while they are close, and never with a moment', (t) => {
  const timeline = [utterance(0, 1), utterance(2, 3), utterance(4, 5), utterance(6, 7), utterance(8, 20)];
  t.deepEqual(
    spansOf(timeline, () => false, 5),
    [
      [0, 5, 3],
      [6, 7, 1],
      [8, 20, 1],
    ],
  );
  t.deepEqual(
    spansOf(timeline, ({ start_s }) => start_s === 2, 5),
    [
      [0, 1, 1],
      [2, 3, 1],
      [4, 7, 2],
      [8, 20, 1],
    ],
  );
  t.is(createBins(timeline, () => false, 0.5).length, timeline.length);
});

test('a bin has the mean by length, and the widest interval around it', (t) => {
  const [bin] = createBins(
    [utterance(0, 1, 0.2, [0.1, 0.4]), utterance(1, 4, 0.6, [0.2, 0.7]), utterance(4, 5, null)],
    () => false,
    10,
  );
  if (bin === undefined) return t.fail();
  t.is(
    meanOf(bin.utterances, ({ start_s }) => start_s),
    (0 + 3 + 4) / 5,
  );
  const affect = affectOf(bin, 'valence');
  const rounded = [affect?.value ?? 0, ...(affect?.interval ?? [])].map((value) => value.toFixed(6));
  t.deepEqual(rounded, ['0.500000', '0.100000', '0.700000']);
  const [single] = createBins([utterance(0, 1, 0.9, [0.7, 0.95])], () => false, 10);
  t.deepEqual(single && affectOf(single, 'valence')?.interval?.map((value) => value.toFixed(6)), [
    '0.700000',
    '0.950000',
  ]);
  t.is(affectOf(bin, 'arousal'), null);
  const [plain] = createBins([utterance(0, 1, 0.5, null)], () => false, 1);
  t.is(plain && affectOf(plain, 'valence')?.interval, null);
});
