/** 80 % intervals of the indices: a bootstrap over runs of speech, and over the reference where speech is missing. */
import type { Segment } from '../segments.ts';
import { computeIndex, type IndexParams, type IndexWeights, type Measured } from './indices.ts';
import type { Interval } from './intervals.ts';

const draws = 200;
/** Share of the draws below the interval, and above it. */
const tail = 0.1;

/** A stretch of speech and the pause after it, in frames. */
type Run = { readonly speech: number; readonly pause: number };

/**
 * Each draw resamples the runs, and moves the part of the mix that `priorSeconds` stands for to another place in the
 * reference distribution, the same in every measure. Draws are a function of the recording alone.
 */
export function indexInterval(
  { segments, framesPerSecond }: { readonly segments: readonly Segment[]; readonly framesPerSecond: number },
  measured: Measured,
  [weights, params, baseline]: readonly [IndexWeights, IndexParams, Measured | null],
): Interval {
  const runs = runsOf(segments);
  const random = uniform();
  const scores = Array.from({ length: draws }, (_, draw) => {
    const resampled = runs.map(() => runs[Math.floor(random() * runs.length)] as Run);
    const measures = { ...measured.measures, ...timingOf(resampled, framesPerSecond) };
    const share = (draw + 0.5) / draws;
    const unspoken = Math.log(share / (1 - share));
    return computeIndex({ ...measured, measures }, weights, { ...params, unspoken }, baseline).score;
  });
  scores.sort((a, b) => a - b);
  const { score } = computeIndex(measured, weights, params, baseline);
  const [lower, upper] = [scores[draws * tail], scores[draws * (1 - tail) - 1]] as [number, number];
  return [Math.min(lower, score), Math.max(upper, score)];
}

function runsOf(segments: readonly Segment[]): Run[] {
  return segments.map(({ start, end }, index) => ({
    speech: end - start,
    pause: Math.max(0, (segments[index + 1]?.start ?? end) - end),
  }));
}

function timingOf(runs: readonly Run[], framesPerSecond: number) {
  const speech = runs.reduce((sum, run) => sum + run.speech, 0);
  const pause = runs.reduce((sum, run) => sum + run.pause, 0);
  return {
    pause_ratio: { value: pause / (speech + pause), unit: 'ratio' },
    mean_run: { value: speech / framesPerSecond / runs.length, unit: 's' },
  };
}

/** Linear congruential generator of Numerical Recipes: the same numbers in [0, 1) on every call. */
function uniform(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
