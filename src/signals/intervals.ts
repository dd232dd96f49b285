/** 80 % intervals: the half-width met on speakers left out of training, wider on poor or short input. */

/** Lower and upper bound, inside [0, 1]. */
export type Interval = readonly [number, number];

const poorRecordingFactor = 1.25;

/**
 * The half-width grows with the square root of the speech that is missing to `shortSpeechSeconds` and by
 * a quarter for each fault of the recording.
 * @param faults number of recording faults that were warned of
 */
export function interval(
  score: number,
  halfWidth: number,
  speechSeconds: number,
  shortSpeechSeconds: number,
  faults: number,
): Interval {
  const short = Math.sqrt(Math.max(1, shortSpeechSeconds / speechSeconds));
  const half = halfWidth * short * poorRecordingFactor ** faults;
  return [Math.max(0, score - half), Math.min(1, score + half)];
}
