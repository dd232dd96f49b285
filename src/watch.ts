/** Times the stages of an analysis, and stops it between them. */
import { Failure } from './errors.ts';

export type Stage = { readonly name: string; readonly ms: number };

export const stoppedMessage = 'the analysis was stopped';

export type Watch = { readonly stages: Stage[]; mark(name: string): void; check(): void };

/** `check` and `mark` throw once the caller has set `cancel` to something other than 0. */
export function startWatch(cancel: Int32Array | null): Watch {
  const stages: Stage[] = [];
  let last = performance.now();
  const check = () => {
    if (cancel !== null && Atomics.load(cancel, 0) !== 0) throw new Failure('deadline', stoppedMessage);
  };
  const mark = (name: string) => {
    const now = performance.now();
    stages.push({ name, ms: now - last });
    last = now;
    check();
  };
  return { stages, mark, check };
}
