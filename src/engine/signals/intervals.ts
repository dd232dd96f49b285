/** 80 % intervals, calibrated on the calibration part: wider on short or poor recordings. */
import { z } from 'zod';
import { scoreEnds } from './score-ends.ts';

/** Lower and upper bound, inside [0, 1]. */
export type Interval = readonly [number, number];

/** Growth of the interval per degradation, fitted on the calibration part (training/calibration/intervals.py). */
export const intervalParams = z.strictObject({
  /** Half-width without degradations; of a model that predicts a spread its factor. */
  base: z.number().nonnegative(),
  /** Exponents of the degradations. */
  short: z.number().nonnegative(),
  noise: z.number().nonnegative(),
  narrow: z.number().nonnegative(),
  clipped: z.number().nonnegative(),
});
export type IntervalParams = z.infer<typeof intervalParams>;

/** Values of a recording without a degradation; clipping counts up to `fullyClippedRatio`. */
export const degradationParams = z.strictObject({
  /** Rated recordings are hardly longer, so that narrower intervals cannot be fitted. */
  fullSpeechSeconds: z.number().positive(),
  cleanSnrDb: z.number(),
  fullBandwidthHz: z.number().positive(),
  fullyClippedRatio: z.number().positive(),
});

export type Conditions = {
  readonly speechSeconds: number;
  /** null, an unknown level of noise, counts as 0 dB. */
  readonly snrDb: number | null;
  readonly bandwidthHz: number;
  readonly clippedRatio: number;
};

/** Each 0 for a good recording. */
type Degradations = Readonly<Record<'short' | 'noise' | 'narrow' | 'clipped', number>>;

/** Bandwidths below it count as this one. */
const minBandwidthHz = 1000;

/** Logarithm of the speech missing, tens of dB of SNR missing, logarithm of the bandwidth missing, share of clipping. */
export function degradationsOf(
  { speechSeconds, snrDb, bandwidthHz, clippedRatio }: Conditions,
  params: z.infer<typeof degradationParams>,
): Degradations {
  return {
    short: Math.max(0, Math.log(params.fullSpeechSeconds / speechSeconds)),
    noise: Math.max(0, params.cleanSnrDb - (snrDb ?? 0)) / 10,
    narrow: Math.max(0, Math.log(params.fullBandwidthHz / Math.max(bandwidthHz, minBandwidthHz))),
    clipped: Math.min(1, clippedRatio / params.fullyClippedRatio),
  };
}

/**
 * Half-width = base spread exp(short s + noise n + narrow b + clipped c) for the degradations s, n, b and c.
 * @param rule null: not fitted, the interval is the score
 * @param spread that the model predicts for the recording; 1 for models that predict none
 */
export function interval(score: number, rule: IntervalParams | null, by: Degradations, spread = 1): Interval {
  if (rule === null) return [score, score];
  const { base, short, noise, narrow, clipped } = rule;
  const half =
    base * spread * Math.exp(short * by.short + noise * by.noise + narrow * by.narrow + clipped * by.clipped);
  return [Math.max(0, score - half), Math.min(1, score + half)];
}

/** "0.36  (0.20 to 0.53)  0 negative, 1 positive"; without bounds, "0.36  0 negative, 1 positive". */
export function formatScore(name: keyof typeof scoreEnds, score: number, bounds: Interval | null): string {
  const range = bounds === null ? '' : `  (${bounds[0].toFixed(2)} to ${bounds[1].toFixed(2)})`;
  const [lowest, highest] = scoreEnds[name];
  return `${score.toFixed(2)}${range}  0 ${lowest}, 1 ${highest}`;
}
