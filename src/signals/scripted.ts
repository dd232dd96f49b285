/** Whether somebody reads aloud: fluent without the pauses that planning takes. */
import type { Measured } from './indices.ts';

export type ScriptedRule = {
  /** With less speech nothing is said. */
  readonly minSpeechSeconds: number;
  readonly minMeanRun: number;
  readonly maxPauseRatio: number;
};

/** Both long runs and few pauses: see the rule in the manifest of the cognitive model for what it catches. */
export function seemsScripted({ measures, speechSeconds }: Measured, rule: ScriptedRule): boolean {
  const run = measures.mean_run?.value;
  const ratio = measures.pause_ratio?.value;
  if (run === undefined || ratio === undefined || speechSeconds < rule.minSpeechSeconds) return false;
  return run >= rule.minMeanRun && ratio <= rule.maxPauseRatio;
}
