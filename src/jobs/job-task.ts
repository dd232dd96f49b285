/** Messages between a worker and its analysis threads. */
import type { ErrorReply } from '../workers/protocol.ts';
import type { JobProgress } from './job-json.ts';

/** Recordings start in `short` and move to `long` when they exceed its maximum duration. */
export const lanes = ['short', 'long'] as const;
export type Lane = (typeof lanes)[number];

export type JobTask = {
  readonly id: string;
  readonly lane: Lane;
  readonly audio: Uint8Array;
  readonly baseline: Uint8Array | null;
  readonly channel: number | null;
  /** Shared flag: a value other than 0 stops the analysis. */
  readonly cancel: Int32Array;
};

/** `long`: the recording belongs into the lane `long`. */
export type JobReply =
  | { readonly kind: 'report'; readonly json: string }
  | { readonly kind: 'long' }
  | ErrorReply;

/** Posted while a job is being analysed. */
export type JobProgressMessage = { readonly id: string; readonly progress: JobProgress };
