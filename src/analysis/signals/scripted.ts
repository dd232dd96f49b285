/** Whether somebody reads aloud: fluent without the pauses that planning takes. */
import { z } from 'zod';
import type { Measured } from './indices.ts';

export const scriptedParams = z.strictObject({
  /** With less speech nothing is said. */
  minSpeechSeconds: z.number().positive(),
  minMeanRun: z.number().positive(),
  maxPauseRatio: z.number().min(0).max(1),
});

/** Both long runs and few pauses: see the rule in the manifest of the cognitive model for what it catches. */
export function seemsScripted(
  { measures, speechSeconds }: Measured,
  params: z.infer<typeof scriptedParams>,
): boolean {
  const run = measures.mean_run?.value;
  const ratio = measures.pause_ratio?.value;
  if (run === undefined || ratio === undefined || speechSeconds < params.minSpeechSeconds) return false;
  return run >= params.minMeanRun && ratio <= params.maxPauseRatio;
}
