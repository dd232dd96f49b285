/** What the middlewares of one request share. */
import type { Stage } from '../watch.ts';
import type { Grant } from './auth.ts';

export type State = {
  /** Of the token, on paths that need one. */
  grant?: Grant;
  requestId: string;
  /** On the clock of performance.now(). */
  startedAt: number;
  stages: Stage[];
  /** The client left before its answer. */
  gone: boolean;
};
