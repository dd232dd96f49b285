/** Whether an adaptation improves the scores of speakers that it was not fitted on. */

import type { Scored } from '../evaluate/figures.ts';
import { type Estimate, estimate, gain, type Score } from '../evaluate/statistics.ts';

export type Comparison = {
  readonly figure: string;
  /** Of the models as they are, and adapted; 95 % intervals. */
  readonly before: Estimate;
  readonly after: Estimate;
  /** Of the difference: paired bootstrap over speakers, expanded for few of them. */
  readonly interval: Estimate['interval'];
  /** Whether the interval lies on the better side of 0; null for figures that do not decide. */
  readonly improves: boolean | null;
};

export type Pair<Value> = readonly [before: Value, after: Value];
/** Which way a figure improves; null: it does not decide. */
type Better = 'higher' | 'lower' | null;

type Sample<Value> = {
  /** Two predictions of each recording. */
  readonly pairs: readonly Pair<Value>[];
  readonly speakers: readonly string[];
};

/** @param level of the interval of the difference */
export function compare<Value>(
  figure: string,
  score: Score<Value>,
  { pairs, speakers }: Sample<Value>,
  { better, level }: { readonly better: Better; readonly level: number },
): Comparison {
  const scoreOf = (part: 0 | 1) =>
    estimate(
      score,
      pairs.map((pair) => pair[part]),
      speakers,
    );
  const { interval } = estimate(gain(score), pairs, speakers, wider(level, speakers));
  const ends = { higher: interval !== null && interval[0] > 0, lower: interval !== null && interval[1] < 0 };
  const improves = better === null ? null : ends[better];
  return { figure, before: scoreOf(0), after: scoreOf(1), interval, improves };
}

/** Lower end of the interval of the adapted score. */
export function lowerEnd<Value>(
  score: Score<Value>,
  { pairs, speakers }: Sample<Value>,
  level: number,
): number {
  const after = pairs.map((pair) => pair[1]);
  return estimate(score, after, speakers, wider(level, speakers)).interval?.[0] ?? Number.NEGATIVE_INFINITY;
}

function wider(level: number, speakers: readonly string[]): number {
  return expandedLevel(level, new Set(speakers).size);
}

// Level at which a percentile bootstrap over a few speakers has the coverage of a larger sample: percentile intervals are too
// narrow by what Student's distribution is wider (expanded percentile interval: Hesterberg 2015, The American Statistician 69).

const steps = 20_000;
/** Beyond it the normal distribution has no mass. */
const bound = 10;

/** @param level of an interval with two ends, 0 to 1 */
export function expandedLevel(level: number, speakers: number): number {
  const tail = (1 - level) / 2;
  const student = -studentQuantile(tail, speakers - 1);
  return 1 - 2 * normalTail(Math.sqrt(speakers / (speakers - 1)) * student);
}

/** With x = sqrt(degrees) tan(angle) the density is proportional to cos(angle)^(degrees - 1). */
function studentQuantile(probability: number, degrees: number): number {
  const angles = Array.from({ length: steps }, (_, step) => Math.PI * ((step + 0.5) / steps - 0.5));
  const density = angles.map((angle) => Math.cos(angle) ** (degrees - 1));
  let left = probability * density.reduce((sum, value) => sum + value, 0);
  const at = density.findIndex((value) => {
    left -= value;
    return left <= 0;
  });
  return Math.sqrt(degrees) * Math.tan(angles[at] ?? 0);
}

/** Probability of a larger value. */
function normalTail(value: number): number {
  const width = Math.max(0, bound - value) / steps;
  let sum = 0;
  for (let step = 0; step < steps; step++) sum += Math.exp(-((value + (step + 0.5) * width) ** 2) / 2);
  return (sum * width) / Math.sqrt(2 * Math.PI);
}

// Speakers -> folds of about equally many recordings. The same speakers give the same folds.

const maxFolds = 5;

/**
 * @param speakers of each recording
 * @returns the fold of each recording; recordings of a speaker share one
 */
export function foldsOf(speakers: readonly string[]): number[] {
  const counts = new Map<string, number>();
  for (const speaker of speakers) counts.set(speaker, (counts.get(speaker) ?? 0) + 1);
  const ordered = [...counts].sort(
    ([one, count], [other, others]) => others - count || (one < other ? -1 : 1),
  );
  const sizes = new Array<number>(Math.min(maxFolds, ordered.length)).fill(0);
  const folds = new Map<string, number>();
  for (const [speaker, count] of ordered) {
    const smallest = sizes.indexOf(Math.min(...sizes));
    sizes[smallest] = (sizes[smallest] ?? 0) + count;
    folds.set(speaker, smallest);
  }
  return speakers.map((speaker) => folds.get(speaker) as number);
}

/**
 * Predictions for each row by what was fitted on the other folds.
 * @param learn from these rows
 */
export function leaveOut<Row, Fitted, Prediction>(
  rows: readonly Row[],
  folds: readonly number[],
  learn: (rows: readonly Row[]) => Fitted,
  predict: (fitted: Fitted, row: Row) => Prediction,
): Prediction[] {
  const fitted = new Map<number, Fitted>();
  for (const fold of new Set(folds))
    fitted.set(fold, learn(rows.filter((_, index) => folds[index] !== fold)));
  return rows.map((row, index) => predict(fitted.get(folds[index] as number) as Fitted, row));
}

// What an adaptation is fitted on: the labels of a recording, its scores by the models as they are, its mean embedding.

export type Example = Scored & { readonly embedding: Float32Array };

/** A recording without a speaker counts as one. */
export const speakerOf = ({ recording }: Example) => recording.speaker ?? recording.path;

/** @param speakers of each recording */
export const countsOf = (speakers: readonly string[]) => ({
  recordings: speakers.length,
  speakers: new Set(speakers).size,
});

export const countSpeakers = (examples: readonly Example[]) => countsOf(examples.map(speakerOf)).speakers;

/** Recordings with a value that allow for two numbers per output. */
export const minRecordings = 30;
/** Recordings with a value that allow for weights of the embedding as well. */
export const minForWeights = 200;
export const minSpeakers = 3;
