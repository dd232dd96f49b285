import test from 'ava';
import { type Figure, measure, type Scored } from '../../src/tools/evaluate/figures.ts';

type Options = {
  readonly label?: string | null;
  readonly dominant?: string;
  readonly speaker?: string | null;
  readonly group?: string | null;
  readonly valence?: number | null;
  readonly warnings?: readonly string[];
};

function scoredOf(index: number, options: Options = {}): Scored {
  const {
    label = 'sad',
    dominant = 'sad',
    speaker = `speaker ${index}`,
    group = null,
    valence = null,
    warnings = [],
  } = options;
  const probabilities = { neutral: 0.1, calm: 0.1, sad: 0.1, angry: 0.1, [dominant]: 0.7 };
  return {
    recording: { path: `/${index}.wav`, label, speaker, group, valence, arousal: null, clarity: null },
    scores: {
      emotion: {
        probabilities,
        valence: 0.5,
        arousal: 0.5,
        intervals: { valence: [0.4, 0.6], arousal: [0.4, 0.6] },
        warnings: [...warnings],
      },
      cognitive: null,
    },
  };
}

const figureOf = (figures: readonly Figure[], name: string, group = 'all') =>
  figures.find((one) => one.figure === name && one.group === group);

const six = [0, 1, 2, 3, 4, 5];

test('the labels of the file exclude others', (t) => {
  const scored = six.map((index) =>
    scoredOf(index, { label: index < 3 ? 'sad' : 'angry', dominant: index < 5 ? 'sad' : 'calm' }),
  );
  const figures = measure(scored, []);
  t.is(figureOf(figures, 'UAR, all labels open')?.value, 0.5);
  // Without calm the first of equal probabilities wins.
  t.is(figureOf(figures, 'UAR of the labels of the file')?.value, 0.5);
  t.is(figureOf(figures, 'error of the dominant emotion at 100 % coverage')?.value, 0.5);
  t.is(figureOf(figures, 'confidence less accuracy')?.value.toFixed(3), '0.200');
});

test('only warnings of doubt count', (t) => {
  const warnings = [['short_speech'], ['low_confidence'], ['unlike_training'], [], [], []];
  const figures = measure(
    six.map((index) => scoredOf(index, { warnings: warnings[index] ?? [] })),
    [],
  );
  t.is(figureOf(figures, 'answered without a warning')?.value.toFixed(3), '0.667');
});

test('groups of five recordings or more have figures of their own', (t) => {
  const scored = [...six, 6, 7].map((index) => scoredOf(index, { group: index < 5 ? 'north' : 'south' }));
  const groups = new Set(measure(scored, []).map(({ group }) => group));
  t.deepEqual([...groups], ['all', 'north']);
});

test('few speakers and wide intervals are doubts', (t) => {
  const doubtOf = (options: (index: number) => Options) =>
    figureOf(
      measure(
        six.map((index) => scoredOf(index, options(index))),
        [],
      ),
      'UAR, all labels open',
    )?.doubt;
  t.is(
    doubtOf(() => ({})),
    null,
  );
  t.is(
    doubtOf((index) => ({ speaker: String(index % 4) })),
    'few speakers',
  );
  t.is(
    doubtOf((index) => ({ dominant: index % 2 ? 'sad' : 'calm' })),
    'wide interval',
  );
});

test('figures stand beside those of the card for corpora left out', (t) => {
  const figure = (title: string, group: string, value: number) => ({
    figure: title,
    group,
    value,
    interval: null,
    speakers: 1,
    clips: 1,
  });
  const figures = [
    figure('UAR of its 5 labels', 'AESDD', 0.6),
    figure('UAR of its 8 labels', 'RAVDESS', 0.8),
    figure('answered without a warning', 'LibriSpeech', 0.9),
    figure('answered without a warning', 'corpora left out', 0.7),
    figure('CCC of valence', 'TAVA', 0.5),
  ];
  const manifests = [{ evidence: { figures } }] as unknown as Parameters<typeof measure>[1];
  const measured = measure(
    six.map((index) => scoredOf(index, { valence: index / 10 })),
    manifests,
  );
  t.deepEqual(figureOf(measured, 'UAR of the labels of the file')?.card, { value: 0.6, group: 'AESDD' });
  t.deepEqual(figureOf(measured, 'answered without a warning')?.card, {
    value: 0.7,
    group: 'corpora left out',
  });
  t.is(figureOf(measured, 'share of valence inside its 80 % interval')?.value.toFixed(3), '0.333');
  t.is(figureOf(measured, 'answered ok')?.card, null);
});
