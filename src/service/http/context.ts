/** State that the middleware of one request shares. */

import type { Context } from 'koa';
import type { Stage } from '../../engine/index.ts';
import type { Principal } from '../auth/tokens.ts';

export type State = {
  /** Set on paths that require a token. */
  principal?: Principal;
  requestId: string;
  /** Of the caller's `traceparent`, or of the exported trace that begins here; null for others. */
  traceId: string | null;
  /** On the clock of performance.now(). */
  startedAt: number;
  stages: Stage[];
  /** Duration of the analysed recording. */
  audioSeconds: number;
  /** The client closed the connection before the response. */
  clientAborted: boolean;
};

/** 499 when the client closed the connection before the response. */
export function statusOf({ state, status }: Context): number {
  return state.clientAborted ? 499 : status;
}

/** Sends no response, since the client closed the connection. */
export function markAborted(context: Context): void {
  context.state.clientAborted = true;
  context.respond = false;
}
