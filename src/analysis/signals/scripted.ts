/** Detects reading aloud: fluent speech without planning pauses. */
import { z } from 'zod';
import type { Measured } from './indices.ts';

export const scriptedParams = z.strictObject({
  /** Minimum speech for a decision. */
  minSpeechSeconds: z.number().positive(),
  minMeanRun: z.number().positive(),
  maxPauseRatio: z.number().min(0).max(1),
});

/** Long runs and few pauses. */
export function seemsScripted(
  { measures, speechSeconds }: Measured,
  params: z.infer<typeof scriptedParams>,
): boolean {
  const run = measures.mean_run?.value;
  const ratio = measures.pause_ratio?.value;
  if (run === undefined || ratio === undefined || speechSeconds < params.minSpeechSeconds) return false;
  return run >= params.minMeanRun && ratio <= params.maxPauseRatio;
}
