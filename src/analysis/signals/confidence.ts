/** Confidence of the cognitive signals of one recording. */
import { type IndexParams, type Measured, ownShare } from './indices.ts';
import type { Interval } from './intervals.ts';

type Params = IndexParams & { readonly scriptedConfidence: number };

/** Share of the indices that the recording itself supplies, times 1 - the width of clarity's interval. */
export function cognitiveConfidence(
  { speechSeconds }: Measured,
  { priorSeconds, scriptedConfidence }: Params,
  [lower, upper]: Interval,
  scripted: boolean,
): number {
  return ownShare(speechSeconds, priorSeconds) * (1 - (upper - lower)) * (scripted ? scriptedConfidence : 1);
}
