/** Adapts the probabilities of the labels: temperature and biases, with more recordings weights of the embedding as well. */

import {
  type Correction,
  correctLabels,
  type LabelCorrection,
  labelInputs,
  minProbability,
  type Probabilities,
} from '../../engine/index.ts';
import { type Comparison, compare, lowerEnd, type Pair } from '../evaluate/comparison.ts';
import { type Answer, calibrationError, mean, uar } from '../evaluate/statistics.ts';
import {
  countSpeakers,
  countsOf,
  type Example,
  minForWeights,
  minRecordings,
  minSpeakers,
  speakerOf,
} from './examples.ts';
import { crossEntropy, type Freedom, fitCorrection } from './fit-correction.ts';
import { foldsOf, leaveOut } from './folds.ts';

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
