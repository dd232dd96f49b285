/** What the middlewares of one request share. */
import type { Context } from 'koa';
import type { Stage } from '../analysis/stage-timer.ts';
import type { Grant } from './middleware/auth.ts';

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

/** For a client that left: there is nobody to answer. */
export function leave(context: Context): void {
  context.state.gone = true;
  context.respond = false;
}
