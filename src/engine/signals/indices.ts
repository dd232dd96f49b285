/** Documented indices: weighted sums of each measure's position in a reference distribution. */
import { z } from 'zod';
import { uniform } from '../random.ts';
import type { Interval } from './intervals.ts';
import { type Measures, measureRuns, type Run } from './measures.ts';

const indexWeight = z.strictObject({
  /** Whether a higher measure raises or lowers the index. */
  direction: z.enum(['up', 'down']),
  weight: z.number().positive(),
  /** True for measures that need a baseline of the same speaker. */
  relativeOnly: z.boolean(),
});
export const indexWeightsParams = z.record(z.string(), indexWeight);
type IndexWeight = z.infer<typeof indexWeight>;
type IndexWeights = z.infer<typeof indexWeightsParams>;

/** Distribution of a measure in the reference recordings, and the study behind its direction. */
const referenceEntry = z.strictObject({
  median: z.number(),
  /** Scale parameter of the logistic distribution with the reference's quartiles; logarithmic except for differences. */
  spread: z.number().positive(),
  /**
   * Distance of two values of a measure: their ratio, the ratio of their odds (shares of time), the ratio of their inverses
   * (times between events), or their difference.
   */
  scale: z.enum(['ratio', 'odds', 'inverse', 'difference']),
  unit: z.string(),
  source: z.string(),
});
export const referenceParams = z.record(z.string(), referenceEntry);
type ReferenceEntry = z.infer<typeof referenceEntry>;
type Scale = ReferenceEntry['scale'];
type Reference = Readonly<Record<string, Omit<ReferenceEntry, 'unit'>>>;

type Contribution = {
  readonly measure: string;
  readonly value: number;
  /** Added to the reference score. */
  readonly effect: number;
  /** The study behind the direction. */
  readonly source: string;
};

export type Index = {
  readonly score: number;
  readonly contributions: readonly Contribution[];
};

/** Measures, and the seconds of speech that they cover. */
export type Measured = { readonly measures: Measures; readonly speechSeconds: number };

/** From the manifest of the cognitive model. */
type IndexParams = {
  readonly reference: Reference;
  /** Seconds of speech at the reference, mixed with the recording. */
  readonly priorSeconds: number;
  /** Place of the unrecorded speech in the reference distribution, in spreads towards a higher index; 0 is the median. */
  readonly unspoken?: number;
};

/** The score of a speaker at the reference in every measure. */
export const referenceScore = 0.5;

/** Share of the recording in the mix with the reference. */
export function speechShare(speechSeconds: number, priorSeconds: number): number {
  return speechSeconds / (speechSeconds + priorSeconds);
}

/**
 * score = 0.5 + sum of w_i / sum(w) * (p_i - 0.5), with p_i = 1 / (1 + exp(-z_i)), the cumulative reference distribution.
 * For ratios z_i = ln(x_i / c_i) / spread_i, signed by direction: tails fall off as a power and never saturate.
 * x_i is the measure on its scale, mixed with the reference by `speechShare`, since single pauses of short recordings are
 * chance. c_i is the reference median, or the baseline, mixed likewise.
 * Relative-only measures reduce the weights of the others, whose z_i grow by the same factor: a pause has the same effect
 * with and without a baseline.
 * Strictly monotone in each measure and inside (0, 1). Undefined measures have no effect.
 */
export function computeIndex(
  { measures, speechSeconds }: Measured,
  weights: IndexWeights,
  params: IndexParams,
  baseline: Measured | null,
): Index {
  const terms = termsOf(weights, params, baseline, speechSeconds);
  const contributions = terms.flatMap((term): Contribution[] => {
    const value = measures[term.measure]?.value;
    if (value === undefined || term.centre === undefined) return [];
    const effect = effectOf(term, value, params.unspoken ?? 0) + 0;
    return [{ measure: term.measure, value, effect, source: term.entry.source }];
  });
  return { score: contributions.reduce((sum, { effect }) => sum + effect, referenceScore), contributions };
}

/** Scores of a recording in which some measures are others: as `computeIndex`, for many calls. */
function createIndexScorer(
  { measures, speechSeconds }: Measured,
  weights: IndexWeights,
  params: IndexParams,
  baseline: Measured | null,
): (others: Measures, unspoken: number) => number {
  const terms = termsOf(weights, params, baseline, speechSeconds);
  return (others, unspoken) => {
    let score = referenceScore;
    for (const term of terms) {
      const value = (others[term.measure] ?? measures[term.measure])?.value;
      score += effectOf(term, value, unspoken);
    }
    return score;
  };
}

/** What a measure adds to an index, but for its value. */
type Term = {
  readonly measure: string;
  readonly entry: Reference[string];
  /** Reference median, or the value of the baseline; absent where the baseline has none. */
  readonly centre: number | undefined;
  readonly sign: 1 | -1;
  readonly gain: number;
  /** Share of the weights. */
  readonly weight: number;
  /** Share of the recording in the mix with the reference. */
  readonly share: number;
  /** Place of `centre`; absent without one. */
  readonly from: number | undefined;
};

function termsOf(
  weights: IndexWeights,
  { reference, priorSeconds }: IndexParams,
  baseline: Measured | null,
  speechSeconds: number,
): Term[] {
  const used = Object.entries(weights).filter(([, { relativeOnly }]) => baseline !== null || !relativeOnly);
  const total = totalWeight(used);
  const gain = total / totalWeight(used.filter(([, { relativeOnly }]) => !relativeOnly));
  const seconds = Math.min(speechSeconds, baseline?.speechSeconds ?? Number.POSITIVE_INFINITY);
  const share = speechShare(seconds, priorSeconds);
  return used.flatMap(([measure, { direction, weight, relativeOnly }]): Term[] => {
    const entry = reference[measure];
    const centre = baseline === null ? entry?.median : baseline.measures[measure]?.value;
    if (entry === undefined) return [];
    const sign = direction === 'up' ? 1 : -1;
    const from = centre === undefined ? centre : placeOf({ entry, share }, centre, 0);
    const weighted = { gain: relativeOnly ? 1 : gain, weight: weight / total, share, from };
    return [{ measure, entry, centre, sign, ...weighted }];
  });
}

/** A measure that is undefined in the recording or in the baseline counts as unspoken. */
function effectOf(term: Term, value: number | undefined, unspoken: number): number {
  const z = term.sign * term.gain * distance(term, value, term.sign * unspoken);
  return term.weight * (1 / (1 + Math.exp(-z)) - 0.5);
}

function totalWeight(used: readonly (readonly [string, IndexWeight])[]): number {
  return used.reduce((sum, [, { weight }]) => sum + weight, 0);
}

/** From `centre` to `value` in spreads of the reference, both mixed with the reference: at its median, `value` at `unspoken`. */
function distance(term: Term, value: number | undefined, unspoken: number): number {
  const { entry, centre, share, from } = term;
  if (value === undefined || centre === undefined || from === undefined) return unspoken;
  const { spread, scale } = entry;
  if (scale === 'difference') return (share * (value - centre)) / spread + (1 - share) * unspoken;
  return (signOf(scale) * (placeOf(term, value, unspoken) - from)) / spread;
}

/** On the scale of the measure, mixed with the reference at `other` spreads from its median. */
function placeOf({ entry, share }: Pick<Term, 'entry' | 'share'>, value: number, other: number): number {
  const { median, spread, scale } = entry;
  if (scale === 'difference') return value;
  const reference = onScale(median, scale) * Math.exp(signOf(scale) * other * spread);
  return Math.log(reference * (1 - share) + onScale(value, scale) * share);
}

const signOf = (scale: Scale) => (scale === 'inverse' ? -1 : 1);

function onScale(value: number, scale: Exclude<Scale, 'difference'>): number {
  if (scale === 'odds') return value / (1 - value);
  return scale === 'inverse' ? 1 / value : value;
}

// 80 % intervals of the indices: a bootstrap over runs of speech, and over the reference where speech is missing.

const draws = 200;
/** Share of the draws below the interval, and above it. */
const tail = 0.1;

export type IndexWithInterval = Index & { readonly interval: Interval };

/** What a recording is scored against. */
type Standard = { readonly params: IndexParams; readonly baseline: Measured | null };

/**
 * An index per set of weights, with its interval. Each draw resamples the runs, and moves the part of the mix that
 * `priorSeconds` stands for to another place in the reference distribution, the same in every measure. Draws are a function
 * of the recording alone, and the same for every index.
 */
export function scoreIndices(
  weights: readonly IndexWeights[],
  measured: Measured,
  runs: readonly Run[],
  { params, baseline }: Standard,
): IndexWithInterval[] {
  const drawn = resample(runs);
  return weights.map((weights) => {
    const index = computeIndex(measured, weights, params, baseline);
    const score = createIndexScorer(measured, weights, params, baseline);
    const scores = drawn.map((measures, draw) => score(measures, logit((draw + 0.5) / draws)));
    return { ...index, interval: middleOf(scores, index.score) };
  });
}

function logit(share: number): number {
  return Math.log(share / (1 - share));
}

/** The middle of the draws, extended to the score. */
function middleOf(scores: number[], score: number): Interval {
  scores.sort((a, b) => a - b);
  const [lower, upper] = [scores[draws * tail], scores[draws * (1 - tail) - 1]] as [number, number];
  return [Math.min(lower, score), Math.max(upper, score)];
}

function resample(runs: readonly Run[]): Measures[] {
  const random = uniform(1);
  return Array.from({ length: draws }, () => {
    let [speech, pause] = [0, 0];
    for (let count = 0; count < runs.length; count++) {
      const run = runs[Math.floor(random() * runs.length)] as Run;
      speech += run.speech;
      pause += run.pause;
    }
    return measureRuns({ speech, pause, runs: runs.length });
  });
}
