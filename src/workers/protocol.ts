/** What crosses between the main thread and an analysis thread, or a process with such a thread. */
import type { Signal } from '../analysis/signals/table.ts';
import type { Stage } from '../analysis/stage-timer.ts';
import type { DecodeLimits } from '../audio/addon.ts';
import { type SerializedError, ServiceError, serializeError } from '../runtime/errors.ts';

/** Given to each thread once, at its start. */
export type ThreadSettings = { readonly modelsDir: string; readonly limits: DecodeLimits };

/** Posted once by each thread, when its models are loaded and warm. */
export type ThreadReady = { readonly ready: number };

/** Posted by a thread whose heap stays too full. */
export type HeapPressure = { readonly heapPressure: number };

/** Values of the shared flag of a task; anything but `run` stops it at the next stage. */
export const flags = { run: 0, deadline: 1, cancelled: 2 } as const;

export type Task = {
  /** The raw upload in blocks, whose buffers are given away. */
  readonly body: readonly Uint8Array[];
  readonly boundary: string;
  readonly signals: readonly Signal[];
  readonly requestId: string;
};

export type TaskMessage = Task & { readonly cancel: Int32Array };

export type Reply =
  | { readonly kind: 'report'; readonly json: Uint8Array; readonly stages: readonly Stage[] }
  | ErrorReply;

export type ErrorReply =
  | { readonly kind: 'failure'; readonly failure: SerializedError }
  /** Our own fault: the cause, for the log alone. */
  | { readonly kind: 'fault'; readonly cause: string };

/** What is told of an analysis that threw. */
export function toErrorReply(error: unknown): ErrorReply {
  if (error instanceof ServiceError) return { kind: 'failure', failure: serializeError(error) };
  return { kind: 'fault', cause: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** To an analysis process; the first is `start`, and `run` comes after the reply to the one before. */
export type ProcessCommand =
  | { readonly kind: 'start'; readonly settings: ThreadSettings; readonly file: string | undefined }
  | { readonly kind: 'run'; readonly task: Task }
  | { readonly kind: 'stop'; readonly flag: number };

/** From an analysis process. `lost` is its last. */
export type ProcessMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'lost'; readonly cause: string };
