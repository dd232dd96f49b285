/** Where a stream is analysed: at positions that depend on the samples alone. */
import { type SessionConfig, stepSeconds } from './protocol.ts';

/** Positions are frames: samples of every channel. */
export type Step = {
  /** The end of the step before. */
  readonly start: number;
  readonly end: number;
  /** Whether a measurement is due. */
  readonly measure: boolean;
  readonly cause: 'turn.end' | 'session.end' | null;
};

export type Schedule = ReturnType<typeof createSchedule>;

export function createSchedule({
  sample_rate_hz,
  interval_s,
}: Pick<SessionConfig, 'sample_rate_hz' | 'interval_s'>) {
  const positionOf = (index: number) => Math.floor(index * stepSeconds * sample_rate_hz);
  const intervalSteps = interval_s / stepSeconds;
  let last = 0;
  let analyzed = 0;

  function stepTo(end: number, rest: Pick<Step, 'measure' | 'cause'>): Step {
    const start = analyzed;
    analyzed = end;
    return { start, end, ...rest };
  }

  return {
    /** The steps that became due, in order. @param frames received so far */
    advance(frames: number): Step[] {
      const steps: Step[] = [];
      while (positionOf(last + 1) <= frames) {
        last++;
        steps.push(stepTo(positionOf(last), { measure: last % intervalSteps === 0, cause: null }));
      }
      return steps;
    },
    /** An additional step at the end of what was received. */
    force: (frames: number, cause: NonNullable<Step['cause']>) => stepTo(frames, { measure: false, cause }),
  };
}
