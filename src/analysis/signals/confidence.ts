/** How far the cognitive signals of one recording can be trusted. */
import { type IndexParams, type Measured, ownShare } from './indices.ts';
import type { Interval } from './intervals.ts';

/** Pauses of read speech follow the text more than the reader's effort. */
const scriptedFactor = 0.75;

/**
 * Share of the indices that the recording itself supplies, times 1 less the width of clarity's interval;
 * three quarters of that for speech that seems to be read.
 */
export function cognitiveConfidence(
  { speechSeconds }: Measured,
  { priorSeconds }: IndexParams,
  [lower, upper]: Interval,
  scripted: boolean,
): number {
  return ownShare(speechSeconds, priorSeconds) * (1 - (upper - lower)) * (scripted ? scriptedFactor : 1);
}
