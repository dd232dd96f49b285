/** Fits corrections: of the probabilities of the labels, and of valence, arousal or clarity. */

import {
  type Correction,
  correctLabels,
  correctScore,
  type LabelCorrection,
  labelInputs,
  minProbability,
  type Probabilities,
} from '../../engine/index.ts';
import { type Answer, calibrationError, ccc, mean, type Numbers, pcc, uar } from '../evaluate/statistics.ts';
import {
  type Comparison,
  compare,
  countSpeakers,
  countsOf,
  type Example,
  foldsOf,
  leaveOut,
  lowerEnd,
  minForWeights,
  minRecordings,
  minSpeakers,
  type Pair,
  speakerOf,
} from './comparison.ts';
import { crossEntropy, type Freedom, fitCorrection, squaredError } from './correction.ts';

// Adapts the probabilities of the labels: temperature and biases, with more recordings weights of the embedding as well.

export type LabelResult = {
  /** Null when no correction improves other speakers. */
  readonly adaptation: LabelCorrection | null;
  readonly comparisons: readonly Comparison[];
  /** Those of the adaptation. */
  readonly kept: readonly Comparison[];
  readonly recordings: number;
  readonly speakers: number;
};

const minPerLabel = 10;
/** Mean recall that better probabilities may cost. */
const lostRecall = 0.01;
const freedomNames = {
  weights: 'with weights',
  bias: 'temperature and biases',
  scale: 'temperature alone',
} as const satisfies Record<Freedom, string>;

type Labelled = Example & {
  readonly recording: { readonly label: string };
  readonly scores: { readonly emotion: NonNullable<Example['scores']['emotion']> };
};

/** @param known labels of the models */
export function labelledOf(examples: readonly Example[]): Labelled[] {
  return examples.filter(
    (example): example is Labelled => example.recording.label !== null && example.scores.emotion !== null,
  );
}

/**
 * The labels that an adapted model has: those of the models, or those of the file if one of them is new.
 * @throws RangeError for a new label with too few recordings
 */
function labelsAfter(examples: readonly Labelled[], known: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { recording } of examples) counts.set(recording.label, (counts.get(recording.label) ?? 0) + 1);
  const added = [...counts.keys()].filter((label) => !known.includes(label)).sort();
  if (added.length === 0) return known;
  const labels = [...known.filter((label) => counts.has(label)), ...added];
  if (labels.length < 2)
    throw new RangeError(`Expected two or more labels to learn, got ${labels.join(', ')}`);
  const few = labels.filter((label) => (counts.get(label) as number) < minPerLabel);
  if (examples.length < minForWeights || few.length > 0)
    throw new RangeError(
      `Expected ${minForWeights} or more recordings, ${minPerLabel} or more of each label, to learn ${added.join(', ')}; ` +
        `got ${examples.length}${few.length > 0 ? `, and fewer of ${few.join(', ')}` : ''}`,
    );
  return labels;
}

/** Fits corrections from the freest to the simplest, and keeps the first that improves speakers left out. */
export function adaptLabels(
  examples: readonly Labelled[],
  known: readonly string[],
  level: number,
): LabelResult {
  const labels = labelsAfter(examples, known);
  const speakers = examples.map(speakerOf);
  const counts = countsOf(speakers);
  const folds = foldsOf(speakers);
  const comparisons: Comparison[] = [];
  for (const freedom of freedoms(examples.length)) {
    const learn = (rows: readonly Labelled[]) => fitLabels(rows, labels, freedom);
    const predicted = leaveOut(examples, folds, learn, (correction, { scores, embedding }) =>
      correctLabels({ labels, correction }, scores.emotion.probabilities, embedding),
    );
    const pairs = examples.map((example, index): Pair<Prediction> => {
      const truth = example.recording.label;
      return [
        { truth, probabilities: example.scores.emotion.probabilities },
        { truth, probabilities: predicted[index] as Probabilities },
      ];
    });
    const { recall, loss, informative, ...found } = measureFreedom(
      pairs,
      speakers,
      level,
      freedomNames[freedom],
    );
    comparisons.push(...found.comparisons);
    const isBetter = freedom === 'weights' ? recall.improves : loss.improves && !losesRecall(recall);
    if (informative && isBetter)
      return {
        adaptation: { labels, correction: learn(examples) },
        comparisons,
        kept: found.comparisons,
        ...counts,
      };
  }
  return { adaptation: null, comparisons, kept: [], ...counts };
}

const freedoms = (recordings: number): readonly Freedom[] =>
  recordings >= minForWeights ? ['weights', 'bias', 'scale'] : ['bias', 'scale'];

const losesRecall = ({ before, after }: Comparison) => after.value < before.value - lostRecall;

export const canAdaptLabels = (examples: readonly Labelled[]) =>
  examples.length >= minRecordings && countSpeakers(examples) >= minSpeakers;

type Prediction = { readonly truth: string; readonly probabilities: Probabilities };

function measureFreedom(
  pairs: readonly Pair<Prediction>[],
  speakers: readonly string[],
  level: number,
  how: string,
) {
  const each = <Value>(of: (prediction: Prediction) => Value) =>
    pairs.map(([before, after]): Pair<Value> => [of(before), of(after)]);
  const answers = each(({ truth, probabilities }) => ({ truth, predicted: best(probabilities) }));
  const losses = each(
    ({ truth, probabilities }) => -Math.log(Math.max(probabilities[truth] ?? 0, minProbability)),
  );
  const confidences = each(({ truth, probabilities }): Answer => {
    const predicted = best(probabilities);
    return { correct: predicted === truth, confidence: probabilities[predicted] ?? 0 };
  });
  const chance = 1 / new Set(pairs.map(([{ truth }]) => truth)).size;
  const informative = lowerEnd(uar, { pairs: answers, speakers }, level) > chance;
  const recall = compare(
    `UAR of the labels, ${how}`,
    uar,
    { pairs: answers, speakers },
    { better: 'higher', level },
  );
  const loss = compare(
    `log loss of the labels, ${how}`,
    mean,
    { pairs: losses, speakers },
    { better: 'lower', level },
  );
  const calibration = compare(
    `calibration error of confidence, ${how}`,
    calibrationError,
    { pairs: confidences, speakers },
    { better: null, level },
  );
  return { recall, loss, informative, comparisons: [recall, loss, calibration] };
}

function fitLabels(rows: readonly Labelled[], labels: readonly string[], freedom: Freedom): Correction {
  const truths = rows.map(({ recording }) => labels.indexOf(recording.label));
  return fitCorrection(
    rows.map(({ scores, embedding }) => labelInputs(scores.emotion.probabilities, embedding, labels)),
    crossEntropy(truths),
    freedom,
  );
}

function best(probabilities: Probabilities): string {
  const [first] = Object.entries(probabilities).sort(([, one], [, other]) => other - one);
  return first?.[0] ?? '';
}

// Adapts valence, arousal or clarity: a line, and the intervals. With more recordings valence and arousal also depend on the
// embedding, by weights.

export const dimensions = ['valence', 'arousal', 'clarity'] as const;
export type Dimension = (typeof dimensions)[number];

type DimensionAdaptation = {
  readonly correction: Correction;
  /** Factor of the half-width of the interval. */
  readonly widen: number;
};

export type DimensionResult = {
  /** Null when no correction improves other speakers. */
  readonly adaptation: DimensionAdaptation | null;
  readonly comparisons: readonly Comparison[];
  /** Those of the adaptation. */
  readonly kept: readonly Comparison[];
  readonly recordings: number;
  readonly speakers: number;
};

const coverage = 0.8;
const minVariance = 1e-4;

type Rated = {
  readonly example: Example;
  readonly truth: number;
  readonly score: number;
  /** Half-width of the interval. */
  readonly half: number;
};

export function ratedOf(examples: readonly Example[], name: Dimension): Rated[] {
  return examples.flatMap((example) => {
    const truth = example.recording[name];
    const scored = scoreOf(example, name);
    return truth === null || scored === null ? [] : [{ example, truth, ...scored }];
  });
}

function scoreOf({ scores }: Example, name: Dimension): Pick<Rated, 'score' | 'half'> | null {
  const { emotion, cognitive } = scores;
  const parts =
    name === 'clarity'
      ? cognitive && ([cognitive.clarity, cognitive.intervals.clarity] as const)
      : emotion && ([emotion[name], emotion.intervals[name]] as const);
  const [score = null, bounds = null] = parts ?? [];
  if (score === null || bounds === null) return null;
  const [low, high] = bounds;
  return { score, half: Math.max(score - low, high - score) };
}

export const canAdaptDimension = (rated: readonly Rated[]) =>
  rated.length >= minRecordings && countSpeakers(rated.map(({ example }) => example)) >= minSpeakers;

type Predicted = { readonly truth: number; readonly score: number; readonly half: number };

/** What is fitted: nothing but the interval, a line, or weights of the embedding too. */
type Change = 'interval' | 'line' | 'weights';

const changeNames = {
  interval: 'interval alone',
  line: 'line',
  weights: 'with weights',
} as const satisfies Record<Change, string>;
/** CCC that better intervals may cost. */
const lostAgreement = 0.01;

/** Fits corrections from the freest to the simplest, and keeps the first that improves speakers left out. */
export function adaptDimension(name: Dimension, rated: readonly Rated[], level: number): DimensionResult {
  const speakers = rated.map(({ example }) => speakerOf(example));
  const counts = countsOf(speakers);
  const folds = foldsOf(speakers);
  const comparisons: Comparison[] = [];
  for (const change of changes(name, rated.length)) {
    const learn = (rows: readonly Rated[]) => fitDimension(rows, change);
    const scores = leaveOut(rated, folds, learn, (correction, { score, example }) =>
      correctScore(correction, score, example.embedding),
    );
    const ratios = rated.map(({ truth, half }, index) => Math.abs(truth - (scores[index] as number)) / half);
    const widths = leaveOut(
      ratios.map((ratio, index) => ({ ratio, fold: folds[index] as number })),
      folds,
      (rows) => conformalQuantile(rows.map(({ ratio }) => ratio)),
      (widen) => widen,
    );
    const pairs = rated.map(
      ({ truth, score, half }, index): Pair<Predicted> => [
        { truth, score, half },
        { truth, score: scores[index] as number, half: half * (widths[index] as number) },
      ],
    );
    const found = measureChange(name, pairs, speakers, { level, how: changeNames[change] });
    comparisons.push(...found.comparisons);
    if (found.informative && isBetter(change, found)) {
      const adaptation = { correction: learn(rated), widen: conformalQuantile(ratios) };
      return { adaptation, comparisons, kept: found.comparisons, ...counts };
    }
  }
  return { adaptation: null, comparisons, kept: [], ...counts };
}

/** Clarity follows from sums over utterances: its head does not read the mean embedding of the recording. */
function changes(name: Dimension, recordings: number): readonly Change[] {
  return name !== 'clarity' && recordings >= minForWeights
    ? ['weights', 'line', 'interval']
    : ['line', 'interval'];
}

type Found = { readonly agreement: Comparison; readonly loss: Comparison };

function isBetter(change: Change, { agreement, loss }: Found): boolean {
  const keeps = agreement.after.value >= agreement.before.value - lostAgreement;
  return agreement.improves === true || (change !== 'weights' && keeps && loss.improves === true);
}

function measureChange(
  name: Dimension,
  pairs: readonly Pair<Predicted>[],
  speakers: readonly string[],
  { level, how }: { readonly level: number; readonly how: string },
) {
  const each = <Value>(of: (predicted: Predicted) => Value) =>
    pairs.map(([before, after]): Pair<Value> => [of(before), of(after)]);
  const numbers = each(({ truth, score }): Numbers => ({ truth, predicted: score }));
  // Either of two improvements is enough: each is tested at half of the error.
  const half = (1 + level) / 2;
  const agreement = compare(
    `CCC of ${name}, ${how}`,
    ccc,
    { pairs: numbers, speakers },
    { better: 'higher', level: half },
  );
  const loss = compare(
    `pinball loss of the interval of ${name}, ${how}`,
    mean,
    { pairs: each(pinballLoss), speakers },
    { better: 'lower', level: half },
  );
  const inside = each(({ truth, score, half: width }) => Number(Math.abs(truth - score) <= width));
  const covered = compare(
    `share of ${name} inside its 80 % interval, ${how}`,
    mean,
    { pairs: inside, speakers },
    { better: null, level },
  );
  const informative = lowerEnd(pcc, { pairs: numbers, speakers }, level) > 0;
  return { agreement, loss, informative, comparisons: [agreement, loss, covered] };
}

/** Of the half-width as a quantile of the absolute error. */
function pinballLoss({ truth, score, half }: Predicted): number {
  const beyond = Math.abs(truth - score) - half;
  return Math.max(coverage * beyond, (coverage - 1) * beyond);
}

/** Quantile that holds `coverage` of new values (split conformal prediction). */
function conformalQuantile(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const rank = Math.ceil(coverage * (sorted.length + 1)) - 1;
  return sorted[Math.min(rank, sorted.length - 1)] as number;
}

function fitDimension(rows: readonly Rated[], change: Change): Correction {
  if (change === 'interval') return { scale: 1, bias: Float64Array.of(0), weights: null };
  const truths = rows.map(({ truth }) => truth);
  const inputs = rows.map(({ example, score }) => ({
    base: Float64Array.of(score),
    embedding: example.embedding,
  }));
  const loss = squaredError(truths, residualVariance(rows));
  return fitCorrection(inputs, loss, change === 'weights' ? 'weights' : 'bias');
}

/** Of a line through the scores. */
function residualVariance(rows: readonly Rated[]): number {
  const center = rows.reduce((sum, { truth }) => sum + truth, 0) / rows.length;
  const variance = rows.reduce((sum, { truth }) => sum + (truth - center) ** 2, 0) / rows.length;
  const summands = pcc.rows(rows.map(({ truth, score }) => ({ truth, predicted: score })));
  const sums = (summands[0] ?? []).map((_, at) => summands.reduce((sum, row) => sum + (row[at] ?? 0), 0));
  const explained = pcc.value(sums) ** 2;
  return Math.max(minVariance, variance * (1 - (Number.isFinite(explained) ? explained : 0)));
}
