/** Messages between a worker and its analysis threads. */
import type { AnalyzeOptions } from '../analysis/speakers.ts';
import type { Signing } from '../receipts/compose-receipt.ts';
import type { Ignored } from '../receipts/receipt.ts';
import type { Unsigned } from '../receipts/sign.ts';
import type { ErrorReply } from '../workers/protocol.ts';
import type { JobProgress } from './job-json.ts';

/** Queues of analyses: recordings of more than one chunk move from the first to the second. */
export const queueNames = ['analyses', 'long'] as const;
export type QueueName = (typeof queueNames)[number];

export type JobTask = AnalyzeOptions & {
  readonly id: string;
  readonly queue: QueueName;
  readonly audio: Uint8Array;
  readonly baselines: readonly Uint8Array[];
  /** Of the report. */
  readonly ignored?: Ignored | undefined;
  /** Null: no receipt. */
  readonly signing: Signing | null;
  /** Shared flag: a value other than 0 stops the analysis. */
  readonly cancel: Int32Array;
};

/** JSON bytes; `signed` is absent without a receipt. */
export type EncodedReport = Pick<Unsigned, 'json'> & Partial<Unsigned>;

/** `long`: the recording belongs into the queue `long`. */
export type JobReply =
  | ({ readonly kind: 'report'; readonly audioSeconds: number } & EncodedReport)
  | { readonly kind: 'long' }
  | ErrorReply;

/** Posted while a job is being analysed. */
export type JobProgressMessage = { readonly id: string; readonly progress: JobProgress };
