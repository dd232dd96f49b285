/** What the middlewares of one request share. */
import type { Stage } from '../watch.ts';

export type State = {
  requestId: string;
  /** On the clock of performance.now(). */
  startedAt: number;
  stages: Stage[];
  /** The client left before its answer. */
  gone: boolean;
};
