/** Documented indices: weighted sums of each measure's position in a reference distribution. */
import { z } from 'zod';
import type { Measures } from './measures.ts';

const indexWeight = z.strictObject({
  /** Whether a higher measure raises or lowers the index. */
  direction: z.enum(['up', 'down']),
  weight: z.number().positive(),
  /** True for measures that need a baseline of the same speaker. */
  relativeOnly: z.boolean(),
});
export const indexWeightsParams = z.record(z.string(), indexWeight);
type IndexWeight = z.infer<typeof indexWeight>;
export type IndexWeights = z.infer<typeof indexWeightsParams>;

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

export type Contribution = {
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
export type IndexParams = {
  readonly reference: Reference;
  /** Seconds of speech at the reference, mixed with the recording. */
  readonly priorSeconds: number;
  /** Place of the unrecorded speech in the reference distribution, in spreads towards a higher index; 0 is the median. */
  readonly unspoken?: number;
};

/** The score of a speaker at the reference in every measure. */
export const referenceScore = 0.5;

/** Share of the recording in the mix with the reference. */
export function ownShare(speechSeconds: number, priorSeconds: number): number {
  return speechSeconds / (speechSeconds + priorSeconds);
}

/**
 * score = 0.5 + sum of w_i / sum(w) * (p_i - 0.5), with p_i = 1 / (1 + exp(-z_i)), the cumulative reference distribution.
 * For ratios z_i = ln(x_i / c_i) / spread_i, signed by direction: tails fall off as a power and never saturate.
 * x_i is the measure on its scale, mixed with the reference by `ownShare`, since single pauses of short recordings are
 * chance. c_i is the reference median, or the baseline, mixed likewise.
 * Relative-only measures reduce the weights of the others, whose z_i grow by the same factor: a pause has the same effect
 * with and without a baseline.
 * Strictly monotone in each measure and inside (0, 1). Undefined measures have no effect.
 */
export function computeIndex(
  measured: Measured,
  weights: IndexWeights,
  params: IndexParams,
  baseline: Measured | null,
): Index {
  const used = Object.entries(weights).filter(([, { relativeOnly }]) => baseline !== null || !relativeOnly);
  const total = totalWeight(used);
  const gain = total / totalWeight(used.filter(([, { relativeOnly }]) => !relativeOnly));
  const seconds = Math.min(measured.speechSeconds, baseline?.speechSeconds ?? Number.POSITIVE_INFINITY);
  const share = ownShare(seconds, params.priorSeconds);
  const contributions: Contribution[] = [];
  for (const [measure, { direction, weight, relativeOnly }] of used) {
    const value = measured.measures[measure]?.value;
    const entry = params.reference[measure];
    const centre = baseline === null ? entry?.median : baseline.measures[measure]?.value;
    if (value === undefined || entry === undefined || centre === undefined) continue;
    const grown = relativeOnly ? 1 : gain;
    const sign = direction === 'up' ? 1 : -1;
    const unspoken = sign * (params.unspoken ?? 0);
    const z = sign * grown * distance({ value, centre, unspoken }, entry, share);
    const effect = (weight / total) * (1 / (1 + Math.exp(-z)) - 0.5);
    contributions.push({ measure, value, effect: effect + 0, source: entry.source });
  }
  const score = contributions.reduce((sum, { effect }) => sum + effect, referenceScore);
  return { score, contributions };
}

function totalWeight(used: readonly (readonly [string, IndexWeight])[]): number {
  return used.reduce((sum, [, { weight }]) => sum + weight, 0);
}

/** From `centre` to `value` in spreads of the reference, both mixed with the reference: at its median, `value` at `unspoken`. */
function distance(
  { value, centre, unspoken }: { readonly value: number; readonly centre: number; readonly unspoken: number },
  { median, spread, scale }: Reference[string],
  share: number,
) {
  if (scale === 'difference') return (share * (value - centre)) / spread + (1 - share) * unspoken;
  const sign = scale === 'inverse' ? -1 : 1;
  const place = (x: number, other: number) =>
    Math.log(
      onScale(median, scale) * Math.exp(sign * other * spread) * (1 - share) + onScale(x, scale) * share,
    );
  return (sign * (place(value, unspoken) - place(centre, 0))) / spread;
}

function onScale(value: number, scale: Exclude<Scale, 'difference'>): number {
  if (scale === 'odds') return value / (1 - value);
  return scale === 'inverse' ? 1 / value : value;
}
