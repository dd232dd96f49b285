/** 80 % intervals: the half-width met on speakers left out of training, wider on short or poor recordings. */
import { z } from 'zod';

/** Lower and upper bound, inside [0, 1]. */
export type Interval = readonly [number, number];

/** Growth of the interval per degradation, fitted on held-out speakers (training/calibration/intervals.py). */
export const intervalParams = z.strictObject({
  /** Half-width on 3 s or more of clean, wide-band speech. */
  base: z.number().min(0).max(1),
  /** Exponents, none negative, of the lacks below. */
  short: z.number().nonnegative(),
  noise: z.number().nonnegative(),
  narrow: z.number().nonnegative(),
  clipped: z.number().nonnegative(),
});
export type IntervalParams = z.infer<typeof intervalParams>;

export type Conditions = {
  readonly speechSeconds: number;
  /** null counts as the worst: nothing is known of the noise. */
  readonly snrDb: number | null;
  readonly bandwidthHz: number;
  readonly clippedRatio: number;
};

/** Rated recordings are hardly longer, so that nothing is known of narrower intervals. */
const fullSpeechSeconds = 3;
const cleanSnrDb = 25;
const fullBandwidthHz = 7000;
const fullyClippedRatio = 0.01;

/** half = base exp(short s + noise n + narrow b + clipped c), with the lacks s, n, b and c from 0. */
export function interval(score: number, params: IntervalParams, conditions: Conditions): Interval {
  const lacks = degradationsOf(conditions);
  const half =
    params.base *
    Math.exp(
      params.short * lacks.short +
        params.noise * lacks.noise +
        params.narrow * lacks.narrow +
        params.clipped * lacks.clipped,
    );
  return [Math.max(0, score - half), Math.min(1, score + half)];
}

/** Log of the speech missing to 3 s, tens of dB missing to 25 dB, log of the band missing to 7 kHz, clipping to 1 %. */
function degradationsOf({ speechSeconds, snrDb, bandwidthHz, clippedRatio }: Conditions) {
  return {
    short: Math.max(0, Math.log(fullSpeechSeconds / speechSeconds)),
    noise: Math.max(0, cleanSnrDb - (snrDb ?? 0)) / 10,
    narrow: Math.max(0, Math.log(fullBandwidthHz / Math.max(bandwidthHz, 1000))),
    clipped: Math.min(1, clippedRatio / fullyClippedRatio),
  };
}

/** "0.36  (0.20 to 0.53)". */
export function formatScore(score: number, [lower, upper]: Interval): string {
  return `${score.toFixed(2)}  (${lower.toFixed(2)} to ${upper.toFixed(2)})`;
}
