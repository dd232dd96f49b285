/** Documented indices: each measure's position against a reference, weighted and added up. */
import type { Measures } from './measures.ts';

/** Measure -> which way it moves the index, and its share. */
export type IndexWeights = Readonly<
  Record<string, { readonly direction: 'up' | 'down'; readonly weight: number }>
>;
/** Measure -> its median and robust spread over the reference recordings, and the study behind its direction. */
export type Reference = Readonly<
  Record<string, { readonly median: number; readonly spread: number; readonly source: string }>
>;

export type Contribution = {
  readonly measure: string;
  readonly value: number;
  /** What this measure adds to the reference score. */
  readonly effect: number;
  /** The study that gives the direction. */
  readonly source: string;
};

export type Index = {
  readonly score: number;
  readonly contributions: readonly Contribution[];
};

/** The score of a speaker who stands at the reference in every measure. */
export const referenceScore = 0.5;

/**
 * score = 0.5 + sum of 0.5 w_i / sum(w) * z_i / sqrt(1 + z_i^2), with z_i the distance from the reference
 * median in spreads, signed by direction. Strictly monotone in each measure and inside (0, 1). Measures
 * that are undefined for this recording have no effect. With a baseline its measures take the place of
 * the reference medians.
 */
export function computeIndex(
  measures: Measures,
  weights: IndexWeights,
  reference: Reference,
  baseline: Measures | null,
): Index {
  const total = Object.values(weights).reduce((sum, { weight }) => sum + weight, 0);
  const contributions: Contribution[] = [];
  for (const [measure, { direction, weight }] of Object.entries(weights)) {
    const value = measures[measure]?.value;
    const entry = reference[measure];
    const centre = baseline === null ? entry?.median : baseline[measure]?.value;
    if (value === undefined || entry === undefined || centre === undefined) continue;
    const z = ((direction === 'up' ? 1 : -1) * (value - centre)) / entry.spread;
    const effect = ((0.5 * weight) / total) * (z / Math.sqrt(1 + z * z));
    contributions.push({ measure, value, effect: effect + 0, source: entry.source });
  }
  const score = contributions.reduce((sum, { effect }) => sum + effect, referenceScore);
  return { score, contributions };
}
