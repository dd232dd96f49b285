/** What the middlewares of one request share. */
import type { Context } from 'koa';
import type { Stage } from '../analysis/stage-timer.ts';
import type { Principal } from './middleware/auth.ts';

export type State = {
  /** Of the token, on paths that need one. */
  grant?: Principal;
  requestId: string;
  /** On the clock of performance.now(). */
  startedAt: number;
  stages: Stage[];
  /** The client left before its answer. */
  clientAborted: boolean;
};

/** For a client that left: there is nobody to answer. */
export function markAborted(context: Context): void {
  context.state.gone = true;
  context.respond = false;
}
