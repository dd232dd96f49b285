/** Messages between the main thread and analysis threads and processes. */
import type { LiveStep } from '../analysis/live.ts';
import type { Signal } from '../analysis/signals/table.ts';
import type { Stage } from '../analysis/stage-timer.ts';
import type { DecodeLimits } from '../audio/addon.ts';
import type { Signing } from '../receipts/compose-receipt.ts';
import { type SerializedError, ServiceError, serializeError } from '../runtime/errors.ts';

/** The `workerData` of a thread. */
export type ThreadSettings = { readonly modelsDir: string; readonly limits: DecodeLimits };

/** Posted once by each thread, after its models are loaded and warmed up. */
export type ThreadReady = { readonly ready: number };

/** Posted by a thread whose heap exceeds `maxHeapRatio`. */
export type HeapPressure = { readonly heapPressure: number };

/** The analysis of an upload. */
export type FormTask = {
  /** The raw upload in blocks, whose buffers are transferred. */
  readonly body: readonly Uint8Array[];
  readonly boundary: string;
  readonly signals: readonly Signal[];
  /** The report has embeddings in place of signals. */
  readonly embeddings?: boolean;
  readonly requestId: string;
  /** Longest recording, s, in place of the limit of the service. */
  readonly maxSeconds?: number;
  /** Absent where reports have no receipts. */
  readonly receipt?: Signing & { readonly always: boolean };
};

/** Provisional values of a stream. */
export type LiveTask = {
  /** A WAV file of its last seconds. */
  readonly body: readonly Uint8Array[];
  readonly live: LiveStep;
};

export type Task = FormTask | LiveTask;

/** Shared flag of a task: a value other than 0 stops it before the next stage. */
export type CancellableTask = Task & { readonly cancel: Int32Array };

export type TaskMessage = CancellableTask & {
  /** When the task started. */
  readonly hasIdleCores: boolean;
};

export type Reply =
  /** The report of a FormTask, or the LiveOutput of a LiveTask. */
  | {
      readonly kind: 'report';
      readonly json: Uint8Array;
      readonly stages: readonly Stage[];
      /** Duration of the recording; 0 for a LiveTask. */
      readonly audioSeconds: number;
      /** What the receipt in `json`, whose signature is missing, has signed. */
      readonly signed?: Uint8Array;
    }
  | ErrorReply;

export type ErrorReply =
  | { readonly kind: 'failure'; readonly failure: SerializedError }
  /** The cause is logged and never sent to clients. */
  | { readonly kind: 'internalError'; readonly cause: string };

export function toErrorReply(error: unknown): ErrorReply {
  if (error instanceof ServiceError) return { kind: 'failure', failure: serializeError(error) };
  return {
    kind: 'internalError',
    cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}

/** File descriptors of an analysis process: frames in both directions, and the numbers (uint32) of tasks to stop. */
export const sockets = { frames: 3, stops: 4 } as const;

/** The first frame to an analysis process. */
export type ProcessStart = { readonly settings: ThreadSettings; readonly file: string | undefined };

/** The later ones, one at a time; the bytes of the frame are the body of the task. */
export type ProcessCommand = {
  readonly task: Omit<FormTask, 'body'> | Omit<LiveTask, 'body'>;
  readonly number: number;
  readonly hasIdleCores: boolean;
};

/** Sent by an analysis process; `lost` is the last message. */
export type ProcessMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'lost'; readonly cause: string }
  | {
      readonly kind: 'reply';
      /** The bytes of the frame are `json`, then `signed`. */
      readonly reply: Omit<Extract<Reply, { kind: 'report' }>, 'json' | 'signed'> | ErrorReply;
      /** Length of `json`. */
      readonly jsonBytes: number;
      /** The process has to be replaced. */
      readonly isFull: boolean;
    };
