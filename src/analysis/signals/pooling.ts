/** Pools the scores of windows into scores of the recording. */
import type { RecordingContext } from '../types.ts';
import type { Window } from '../windows.ts';

/** Frames of speech in each window: the weights of pooling. */
export function speechPerWindow({ windows }: Pick<RecordingContext, 'windows'>): number[] {
  return windows.map(({ speechFrames }) => speechFrames);
}

/** Start and end in seconds, and the conditions of a recording that is no longer than the entry. */
export function entryOf(
  { start, end, speechFrames }: Window,
  { framesPerSecond, conditions }: RecordingContext,
) {
  return {
    start: start / framesPerSecond,
    end: end / framesPerSecond,
    conditions: { ...conditions, speechSeconds: speechFrames / framesPerSecond },
  };
}

/**
 * Mean of each column, weighted by the seconds of speech in each window.
 * @param rows one row of scores per window, all of equal length
 * @param weights one positive weight per row
 */
export function poolWindows(rows: readonly (readonly number[])[], weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const pooled = new Array<number>(rows[0]?.length ?? 0).fill(0);
  rows.forEach((row, index) => {
    const share = (weights[index] as number) / total;
    row.forEach((value, column) => {
      pooled[column] = (pooled[column] as number) + share * value;
    });
  });
  return pooled;
}
