/** Adapting the models to labels of one's own. */
import test from 'ava';
import { type Adaptation, adapt, isImprovement } from '../../src/tools/adapt/adaptation.ts';
import type { Example } from '../../src/tools/adapt/examples.ts';
import { foldsOf, leaveOut } from '../../src/tools/adapt/folds.ts';
import { minimize } from '../../src/tools/adapt/minimize.ts';
import { expandedLevel } from '../../src/tools/evaluate/expanded-level.ts';
import { createRandom } from '../../src/tools/evaluate/statistics.ts';

const known = ['neutral', 'happy', 'sad'];
const dimensions = 24;

type Options = {
  readonly count?: number;
  readonly speakers?: number;
  readonly labels?: readonly string[];
  /** Distance of the embeddings of two labels; 0: they do not depend on the label. */
  readonly apart?: number;
  /** Valence: what listeners rated, as a function of the score. */
  readonly rated?: (score: number) => number;
};

function draw(options: Options = {}): Example[] {
  const { count = 240, speakers = 8, labels = ['happy', 'sad'], apart = 2, rated } = options;
  const random = createRandom(3);
  return Array.from({ length: count }, (_, index) => {
    const at = Math.floor(random() * labels.length);
    const score = 0.2 + 0.6 * random();
    const probabilities = { neutral: 0.6, happy: 0.1 + 0.2 * random(), sad: 0.1 + 0.2 * random() };
    const half = 0.05;
    return {
      recording: {
        path: `/${index}.wav`,
        label: labels[at] ?? null,
        speaker: `speaker ${index % speakers}`,
        group: null,
        valence:
          rated === undefined ? null : Math.min(1, Math.max(0, rated(score) + 0.04 * (random() - 0.5))),
        arousal: null,
        clarity: null,
      },
      scores: {
        emotion: {
          probabilities,
          valence: score,
          arousal: 0.5,
          intervals: { valence: [score - half, score + half], arousal: [0.4, 0.6] },
          warnings: [],
        },
        cognitive: null,
      },
      embedding: Float32Array.from(
        { length: dimensions },
        (_, dimension) => random() + (dimension === at ? apart : 0),
      ),
    };
  });
}

const figure = ({ comparisons }: Adaptation, name: RegExp) =>
  comparisons.find((one) => name.test(one.figure)) ?? { before: { value: NaN }, after: { value: NaN } };

test('weights of the embedding learn labels that the scores miss', (t) => {
  const adapted = adapt(draw(), known);
  t.true(isImprovement(adapted));
  const recall = figure(adapted, /^UAR of the labels, with weights$/);
  t.is(recall.before.value, 0);
  t.true(recall.after.value > 0.95, String(recall.after.value));
  t.deepEqual(adapted.labels?.adaptation?.labels, known);
});

test('labels without any relation to the voice are refused, although biases would fit them', (t) => {
  const adapted = adapt(draw({ apart: 0 }), known);
  t.false(isImprovement(adapted));
  t.true(figure(adapted, /^log loss of the labels, temperature and biases$/).after.value < 0.8);
  t.true(figure(adapted, /^log loss of the labels, temperature and biases$/).before.value > 1.2);
});

test('fewer recordings have no weights', (t) => {
  const { comparisons } = adapt(draw({ count: 60 }), known);
  t.true(comparisons.length > 0 && !comparisons.some(({ figure: name }) => name.endsWith('with weights')));
});

test('biases that cost recall are not kept: the temperature alone makes probabilities better', (t) => {
  // Both are right in most recordings, and far too sure; happy recordings are rare.
  const examples = draw({
    count: 120,
    labels: ['sad', 'sad', 'sad', 'sad', 'sad', 'sad', 'happy'],
    apart: 0,
  }).map((example, index) => {
    const right = index % 5 > 0 ? example.recording.label : 'neutral';
    const guess = right === 'neutral' ? (example.recording.label === 'sad' ? 'happy' : 'sad') : right;
    const probabilities = { neutral: 0.001, happy: 0.001, sad: 0.001, [guess as string]: 0.998 };
    const emotion = { ...(example.scores.emotion as object), probabilities };
    return { ...example, scores: { ...example.scores, emotion } } as unknown as Example;
  });
  const { labels, comparisons } = adapt(examples, known);
  t.deepEqual(
    comparisons.filter(({ figure: name }) => name.startsWith('UAR')).map(({ figure: name }) => name),
    ['UAR of the labels, temperature and biases', 'UAR of the labels, temperature alone'],
  );
  const { scale = NaN, bias } = labels?.adaptation?.correction ?? {};
  t.true(scale < 0.6, String(scale));
  t.deepEqual([...(bias ?? [])], [0, 0, 0]);
});

test('new labels replace those that the file does not have', (t) => {
  const adapted = adapt(draw({ labels: ['happy', 'bored'] }), known);
  t.deepEqual(adapted.labels?.adaptation?.labels, ['happy', 'bored']);
});

test('a line corrects a scale, and the interval holds 80 % of the errors', (t) => {
  const adapted = adapt(draw({ count: 120, rated: (score) => 0.3 + 0.5 * score }), known);
  const { correction, widen } = adapted.dimensions.valence?.adaptation ?? {};
  t.is(correction?.scale.toFixed(1), '0.5');
  t.is(correction?.bias[0]?.toFixed(1), '0.3');
  t.is(correction?.weights, null);
  t.true((widen as number) > 0.2 && (widen as number) < 0.5, String(widen));
  const covered = figure(adapted, /^share of valence inside/);
  t.true(Math.abs(covered.after.value - 0.8) < 0.05 && covered.before.value > 0.3);
});

test('good scores with a wrong interval only get another interval', (t) => {
  const random = createRandom(9);
  const adapted = adapt(draw({ count: 240, rated: (score) => score + 1.2 * (random() - 0.5) }), known);
  const { correction, widen } = adapted.dimensions.valence?.adaptation ?? {};
  t.like(correction, { scale: 1, weights: null });
  t.true((widen as number) > 2, String(widen));
  t.true(adapted.comparisons.some(({ figure: name }) => name.endsWith('of valence, interval alone')));
});

test('ratings without any relation to the score are refused', (t) => {
  const random = createRandom(5);
  const adapted = adapt(draw({ apart: 0, rated: () => random() }), known);
  t.false(isImprovement(adapted));
});

for (const [name, options, message] of [
  [
    'few recordings',
    { count: 29 },
    'Expected 30 or more recordings of 3 or more speakers with a label, or as many with valence, arousal or clarity, got 29 with a label, 0 with valence, 0 with arousal, 0 with clarity',
  ],
  ['few speakers', { speakers: 2 }, 'Expected recordings of 3 or more speakers, got 2'],
  [
    'a new label in few recordings',
    { count: 199, labels: ['happy', 'bored'] },
    'Expected 200 or more recordings, 10 or more of each label, to learn bored; got 199',
  ],
] as const) {
  test(`${name}: an error`, (t) => {
    t.throws(() => adapt(draw(options), known), { instanceOf: RangeError, message });
  });
}

test('recordings of a speaker share a fold, and folds are about equally large', (t) => {
  const speakers = ['a', 'a', 'a', 'a', 'b', 'b', 'c', 'd', 'e', 'f', 'g'];
  const folds = foldsOf(speakers);
  for (const speaker of new Set(speakers)) {
    const own = folds.filter((_, index) => speakers[index] === speaker);
    t.is(new Set(own).size, 1, speaker);
  }
  const sizes = [0, 1, 2, 3, 4].map((fold) => folds.filter((one) => one === fold).length).sort();
  t.deepEqual(sizes, [1, 2, 2, 2, 4]);
  t.deepEqual(foldsOf([...speakers].reverse()), [...folds].reverse());
});

test('a row is predicted by what was learned from other folds', (t) => {
  const rows = [1, 2, 4, 8];
  const sums = leaveOut(
    rows,
    [0, 1, 0, 1],
    (others) => others.reduce((sum, row) => sum + row, 0),
    (sum, row) => [sum, row],
  );
  t.deepEqual(sums, [
    [10, 1],
    [5, 2],
    [10, 4],
    [5, 8],
  ]);
});

test('finds the minimum of a narrow valley', (t) => {
  // Rosenbrock's function.
  const found = minimize(
    (at, gradient) => {
      const [x = 0, y = 0] = at;
      gradient[0] = -2 * (1 - x) - 400 * x * (y - x * x);
      gradient[1] = 200 * (y - x * x);
      return (1 - x) ** 2 + 100 * (y - x * x) ** 2;
    },
    Float64Array.of(-1.2, 1),
  );
  t.deepEqual(
    [...found].map((value) => value.toFixed(3)),
    ['1.000', '1.000'],
  );
});

test('a point without a slope is returned', (t) => {
  const start = Float64Array.of(3);
  t.is(
    minimize((_, gradient) => {
      gradient[0] = 0;
      return 5;
    }, start),
    start,
  );
});

// 2 Phi(-sqrt(n / (n - 1)) t) with t from tables of Student's distribution: 2.132 (4 degrees, 0.05), 2.776 (0.025), 1.729 (19, 0.05).
for (const [level, speakers, expected] of [
  [0.9, 5, 0.9829],
  [0.95, 5, 0.9981],
  [0.9, 20, 0.9239],
] as const) {
  test(`${level} of ${speakers} speakers`, (t) => {
    t.true(
      Math.abs(expandedLevel(level, speakers) - expected) < 2e-4,
      String(expandedLevel(level, speakers)),
    );
  });
}

test('many speakers need no wider interval', (t) => {
  t.true(Math.abs(expandedLevel(0.9, 10_000) - 0.9) < 1e-3);
});
