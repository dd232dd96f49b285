/** Times the stages of an analysis and stops a cancelled one between them. */
import { EngineError } from './platform.ts';

export type Stage = { readonly name: string; readonly ms: number };

export const stoppedMessage = 'The analysis exceeded its deadline or was cancelled';

export type StageTimer = {
  /** Milliseconds per stage, in the order in which the stages first ended. */
  stages(): Stage[];
  /** Adds the time since the last mark to a stage. @throws EngineError `stopped` after cancellation */
  mark(name: string): void;
  /** Ends a unit of work. The time in which others run is the stage `pause`. @throws EngineError `stopped` after cancellation */
  yieldToOthers(): Promise<void>;
};

/**
 * @param cancel shared with the caller: a value other than 0 cancels the analysis
 * @param yieldToOthers returns whether others ran
 */
export function startStageTimer(
  cancel: Int32Array | null,
  yieldToOthers?: () => Promise<boolean>,
): StageTimer {
  const stages = new Map<string, number>();
  let last = performance.now();
  const check = () => {
    if (cancel !== null && Atomics.load(cancel, 0) !== 0)
      throw new EngineError('stopped', null, stoppedMessage);
  };
  const mark = (name: string) => {
    const now = performance.now();
    stages.set(name, (stages.get(name) ?? 0) + now - last);
    last = now;
    check();
  };
  return {
    stages: () => [...stages].map(([name, ms]) => ({ name, ms })),
    mark,
    yieldToOthers: async () => {
      if (await yieldToOthers?.()) mark('pause');
    },
  };
}
