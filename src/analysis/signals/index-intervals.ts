/** 80 % intervals of the indices: a bootstrap over runs of speech, and over the reference where speech is missing. */
import type { Segment } from '../segments.ts';
import {
  computeIndex,
  createIndexScorer,
  type Index,
  type IndexParams,
  type IndexWeights,
  type Measured,
} from './indices.ts';
import type { Interval } from './intervals.ts';
import { type Measures, measureRuns } from './measures.ts';

const draws = 200;
/** Share of the draws below the interval, and above it. */
const tail = 0.1;

type Timing = { readonly segments: readonly Segment[]; readonly framesPerSecond: number };

/** A stretch of speech and the pause after it, in frames. */
type Run = { readonly speech: number; readonly pause: number };

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
  timing: Timing,
  { params, baseline }: Standard,
): IndexWithInterval[] {
  const drawn = resample(timing);
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

function resample({ segments, framesPerSecond }: Timing): Measures[] {
  const runs = segments.map(({ start, end }, index) => ({
    speech: end - start,
    pause: Math.max(0, (segments[index + 1]?.start ?? end) - end),
  }));
  const random = uniform();
  return Array.from({ length: draws }, () => {
    const drawn = runs.map(() => runs[Math.floor(random() * runs.length)] as Run);
    return timingOf(drawn, framesPerSecond);
  });
}

function timingOf(runs: readonly Run[], framesPerSecond: number): Measures {
  const speech = runs.reduce((sum, run) => sum + run.speech, 0) / framesPerSecond;
  const pause = runs.reduce((sum, run) => sum + run.pause, 0) / framesPerSecond;
  return measureRuns({ speech, pause, runs: runs.length });
}

/** Linear congruential generator of Numerical Recipes: the same numbers in [0, 1) on every call. */
function uniform(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
