/** One execution of the pipeline, over a recording or a step of a stream. */
import { EngineError } from './platform.ts';

export type Stage = { readonly name: string; readonly ms: number };

export const stoppedMessage = 'The analysis exceeded its deadline or was cancelled';

/** How long its stages took, whether it is cancelled, and when it lets others run. */
export type Execution = {
  /** Milliseconds per stage, in the order in which the stages first ended. */
  stages(): Stage[];
  /** Adds the time since a stage last ended to this one. @throws EngineError `stopped` after cancellation */
  endStage(name: string): void;
  /** Ends a unit of work. The time in which others run is the stage `pause`. @throws EngineError `stopped` after cancellation */
  yieldToOthers(): Promise<void>;
};

/**
 * @param cancel shared with the caller: a value other than 0 cancels the execution
 * @param yieldToOthers returns whether others ran
 */
export function startExecution(cancel: Int32Array | null, yieldToOthers?: () => Promise<boolean>): Execution {
  const stages = new Map<string, number>();
  let last = performance.now();
  const endStage = (name: string) => {
    const now = performance.now();
    stages.set(name, (stages.get(name) ?? 0) + now - last);
    last = now;
    if (cancel !== null && Atomics.load(cancel, 0) !== 0)
      throw new EngineError('stopped', null, stoppedMessage);
  };
  return {
    stages: () => [...stages].map(([name, ms]) => ({ name, ms })),
    endStage,
    yieldToOthers: async () => {
      if (await yieldToOthers?.()) endStage('pause');
    },
  };
}
