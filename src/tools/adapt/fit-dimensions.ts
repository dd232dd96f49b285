/**
 * Adapts valence, arousal or clarity: a line, and the intervals. With more recordings valence and arousal also depend on the
 * embedding, by weights.
 */

import { type Correction, correctScore } from '../../engine/index.ts';
import { type Comparison, compare, lowerEnd, type Pair } from '../evaluate/comparison.ts';
import type { Dimension } from '../evaluate/figures.ts';
import { ccc, mean, type Numbers, pcc } from '../evaluate/statistics.ts';
import {
  countSpeakers,
  countsOf,
  type Example,
  minForWeights,
  minRecordings,
  minSpeakers,
  speakerOf,
} from './examples.ts';
import { fitCorrection, squaredError } from './fit-correction.ts';
import { foldsOf, leaveOut } from './folds.ts';

type DimensionAdaptation = {
  readonly correction: Correction;
  /** Factor of the half-width; the half-width itself for models without intervals. */
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
  if (score === null) return null;
  const [low, high] = bounds ?? [score - 1, score + 1];
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
