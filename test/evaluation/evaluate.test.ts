/** Measuring the models on labelled recordings: labels, statistics, figures. */
import test from 'ava';
import { type Figure, measure, type Scored } from '../../src/tools/evaluate/figures.ts';
import { LabelsError, parseLabels } from '../../src/tools/evaluate/labels.ts';
import { calibrationError, ccc, estimate, mean, pcc, uar } from '../../src/tools/evaluate/statistics.ts';

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

test('figures stand next to those of the card for corpora left out', (t) => {
  const figure = (title: string, group: string, value: number) => ({
    figure: title,
    group,
    value,
    interval: null,
    speakers: 1,
    clips: 1,
  });
  const figures = [
    figure('mean UAR, corpus left out', '12 acted corpora', 0.6),
    figure('UAR of the labels of the file', 'RAVDESS', 0.8),
    figure('answered without a warning', 'LibriSpeech', 0.9),
    figure('answered without a warning', 'corpus left out', 0.7),
    figure('CCC of valence', 'TAVA', 0.5),
  ];
  const manifests = [{ evidence: { figures } }] as unknown as Parameters<typeof measure>[1];
  const measured = measure(
    six.map((index) => scoredOf(index, { valence: index / 10 })),
    manifests,
  );
  t.deepEqual(figureOf(measured, 'UAR of the labels of the file')?.card, {
    value: 0.6,
    group: '12 acted corpora',
  });
  t.deepEqual(figureOf(measured, 'answered without a warning')?.card, {
    value: 0.7,
    group: 'corpus left out',
  });
  t.is(figureOf(measured, 'share of valence inside its 80 % interval')?.value.toFixed(3), '0.333');
  t.is(figureOf(measured, 'answered ok')?.card, null);
});

test('columns in any order, quoted cells, empty cells and relative paths', (t) => {
  const csv =
    '\uFEFFspeaker,label,path,valence\nada,"happy","a, b.wav",0.25\n,,/x/c.wav,\n\nbob,Ang,d.wav,1\n';
  const absent = { arousal: null, clarity: null, group: null };
  t.deepEqual(parseLabels(csv, '/data').recordings, [
    { ...absent, path: '/data/a, b.wav', label: 'happy', valence: 0.25, speaker: 'ada' },
    { ...absent, path: '/x/c.wav', label: null, valence: null, speaker: null },
    { ...absent, path: '/data/d.wav', label: 'angry', valence: 1, speaker: 'bob' },
  ]);
});

test('other columns are ignored and named, with the known column that was probably meant', (t) => {
  const { recordings, ignored } = parseLabels('id,path,label,valance,no\u001bte\n7,a.wav,sad,0.2,\n', '/');
  t.is(recordings.length, 1);
  t.like(recordings[0], { path: '/a.wav', label: 'sad', valence: null });
  t.deepEqual(ignored, ['id', 'valance (did you mean valence?)', 'no\\u001bte']);
});

const columns =
  'Expected a first line with `path`, one or more of label, valence, arousal, clarity, and speaker and group if known';
for (const [csv, message] of [
  ['', `${columns}, got `],
  ['path,speaker\na.wav,ada', `${columns}, got path,speaker`],
  ['path,label', 'Expected one or more recordings, got none'],
  ['path,label\n,sad', 'Expected a path in line 2, got none'],
  ['path,valence\na.wav,1.5', 'Expected a number from 0 to 1 for `valence` in line 2, got 1.5'],
  [
    'path,label\na.wav,sa\u001bd',
    'Expected text without control characters for `label` in line 2, got sa\\u001bd',
  ],
  [
    'path,valence\na.wav,0.5\n\nb.wav,high',
    'Expected a number from 0 to 1 for `valence` in line 4, got high',
  ],
  ['path,label\na.wav,sad\n/a.wav,angry', 'Expected each path once, got that of line 2 in line 3 again'],
] as const) {
  test(message, (t) => {
    t.throws(() => parseLabels(csv, '/'), { instanceOf: LabelsError, message });
  });
}

test('a line with too many cells is named', (t) => {
  t.throws(() => parseLabels('path,label\na.wav,sad,more', '/'), {
    instanceOf: LabelsError,
    message: /^Expected CSV, got a file that is none: .*line 2/,
  });
});

const speakers = (count: number) => Array.from({ length: count }, (_, at) => `speaker ${at}`);
const close = (t: { true(value: boolean, message?: string): unknown }, got: number, expected: number) =>
  t.true(Math.abs(got - expected) < 1e-9, `${got}, not ${expected}`);

test('UAR is the mean recall of the labels that occur', (t) => {
  const labels = [
    ['a', 'a'],
    ['a', 'b'],
    ['a', 'a'],
    ['a', 'a'],
    ['b', 'b'],
    ['b', 'c'],
  ].map(([truth = '', predicted = '']) => ({ truth, predicted }));
  close(t, estimate(uar, labels, speakers(6)).value, (0.75 + 0.5) / 2);
});

test('CCC counts a shift, PCC does not', (t) => {
  const pairs = [0.1, 0.2, 0.3, 0.4].map((truth) => ({ truth, predicted: truth + 0.1 }));
  const variance = 0.0125;
  close(t, estimate(pcc, pairs, speakers(4)).value, 1);
  close(t, estimate(ccc, pairs, speakers(4)).value, (2 * variance) / (2 * variance + 0.01));
});

test('the calibration error is weighted by recordings', (t) => {
  const answers = [
    { confidence: 0.95, correct: true },
    { confidence: 0.95, correct: false },
    { confidence: 0.25, correct: false },
    { confidence: 1, correct: true },
  ];
  close(t, estimate(calibrationError, answers, speakers(4)).value, (Math.abs(2.9 - 2) + 0.25) / 4);
});

test('intervals are drawn over speakers, and repeatable', (t) => {
  const values = Array.from({ length: 200 }, (_, at) => at % 2);
  const many = estimate(mean, values, speakers(200));
  const two = estimate(mean, values, values.map(String));
  t.deepEqual(estimate(mean, values, speakers(200)), many);
  const [low, high] = many.interval ?? [0, 0];
  t.true(low > 0.4 && low < 0.46 && high > 0.54 && high < 0.6, `${low} ${high}`);
  t.deepEqual(two.interval, [0, 1], 'each of the two speakers has one value');
  const one = estimate(
    mean,
    values,
    values.map(() => 'the only one'),
  );
  t.true((one.interval?.[0] ?? 0) > 0.4, 'recordings are drawn where there is one speaker');
});
