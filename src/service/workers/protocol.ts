/// <reference lib="es2024.sharedmemory" />
/** Messages between the main thread and analysis threads. */

import { getHeapStatistics } from 'node:v8';
import { parentPort, threadId } from 'node:worker_threads';
import type {
  AnalyzeOptions,
  DecodeLimits,
  LiveStep,
  SampleFormat,
  SpeakerMode,
  Stage,
} from '../../engine/index.ts';
import type { Ignored, Signal } from '../../engine/schema.ts';
import type { Signing } from '../compose-receipt.ts';
import { type SerializedError, ServiceError, serializeError, toServiceError } from '../errors.ts';
import type { SerializedState } from './live-state.ts';
import type { PauseFlag } from './pause-flag.ts';

/** The `workerData` of a thread. */
export type ThreadSettings = {
  readonly modelsDir: string;
  /** Opened for the first task that is `compared`; absent or null: there are no such tasks. */
  readonly comparedModelsDir?: string | null;
  readonly limits: DecodeLimits;
};

/** Posted once by each thread, after its models are loaded and warmed up. */
export type ThreadReady = { readonly ready: number };

/** Posted by a thread whose heap exceeds `maxHeapRatio`. */
export type HeapPressure = { readonly heapPressure: number };

/** Posted by a thread when the task with this id has paused. */
export type TaskPaused = { readonly paused: number };

/** Posted by a thread after each chunk of a long job with this id: seconds analysed, and the declared duration. */
export type TaskProgress = {
  readonly progressed: number;
  readonly analysedSeconds: number;
  readonly declaredSeconds: number | null;
};

/** The analysis of an upload. */
export type FormTask = {
  /** The raw upload in blocks, whose buffers are transferred. */
  readonly body: readonly Uint8Array[];
  readonly boundary: string;
  readonly signals: readonly Signal[];
  /** The report has embeddings in place of signals. */
  readonly embeddings?: boolean;
  readonly requestId: string;
  /** Uses the second set of models. */
  readonly compared?: boolean;
  /** Query parameters, which the path does not have. */
  readonly ignored?: Ignored;
  readonly receipt: Signing & { readonly always: boolean };
};

/** A step of a stream. Its bytes and state are in shared memory: the session sends them again when the thread dies. */
export type SerializedStep = Omit<LiveStep, 'state'> & {
  readonly state: SerializedState | null;
  /** The memory of an earlier state, for the next one. */
  readonly spare: SharedArrayBuffer | null;
};
export type LiveTask = { readonly live: SerializedStep };

/** The report of a stream. */
export type RecordingTask = {
  /** Samples in blocks, whose buffers are transferred. */
  readonly body: readonly Uint8Array[];
  readonly format: SampleFormat;
  /** Each of two channels alone. */
  readonly split: boolean;
  /** At most one of `split` and `speakers`. */
  readonly speakers: SpeakerMode | null;
  readonly signals: readonly Signal[];
  readonly requestId: string;
  readonly maxSeconds: number;
};

/** Jobs start in `analyses`; those with recordings of over `longSeconds` move to `long`. */
export type JobQueueName = 'analyses' | 'long';

/** The recordings of a job, whose buffers are transferred. */
export type JobTask = AnalyzeOptions & {
  readonly job: JobQueueName;
  readonly audio: Uint8Array;
  readonly baselines: readonly Uint8Array[];
  readonly requestId: string;
  readonly maxSeconds: number;
  /** Of the report. */
  readonly ignored?: Ignored | undefined;
  /** Null: no receipt. */
  readonly signing: Signing | null;
};

export type Task = FormTask | LiveTask | RecordingTask | JobTask;

export function buffersOf(task: Task): readonly Uint8Array[] {
  if ('body' in task) return task.body;
  return 'job' in task ? [task.audio, ...task.baselines] : [];
}

/** Shared flag of a task: a value other than 0 stops it before the next stage. */
export type CancellableTask = Task & { readonly cancel: Int32Array };

export type TaskMessage = CancellableTask & {
  readonly id: number;
  readonly pauseFlag: PauseFlag;
  /** When the task started. */
  readonly hasIdleCores: boolean;
};

export type Reply =
  /** A report, or the messages of a LiveTask. */
  | {
      readonly kind: 'report';
      readonly json: Uint8Array;
      readonly stages: readonly Stage[];
      /** Duration of the recording; 0 for a LiveTask. */
      readonly audioSeconds: number;
      /** Of the stream after a LiveTask. */
      readonly state?: SerializedState;
      /** What the receipt in `json`, whose signature is missing, has signed. */
      readonly signed?: Uint8Array;
    }
  /** A job of `analyses` belongs into `long`. */
  | { readonly kind: 'long' }
  | ErrorReply;

type ErrorReply =
  | { readonly kind: 'failure'; readonly failure: SerializedError }
  /** The cause is logged and never sent to clients. */
  | { readonly kind: 'internalError'; readonly cause: string };

export function toErrorReply(error: unknown): ErrorReply {
  const known = toServiceError(error);
  if (known instanceof ServiceError) return { kind: 'failure', failure: serializeError(known) };
  return { kind: 'internalError', cause: error instanceof Error ? stackOf(error) : String(error) };
}

/** Without the message of a SyntaxError, which quotes the text that was parsed. */
function stackOf({ name, message, stack = `${name}: ${message}` }: Error): string {
  return name === 'SyntaxError' ? stack.replace(message, 'message left out') : stack;
}

export function reportPaused(id: number): void {
  parentPort?.postMessage({ paused: id } satisfies TaskPaused);
}

export function reportProgress(progress: TaskProgress): void {
  parentPort?.postMessage(progress);
}

export function reportReady(): void {
  parentPort?.postMessage({ ready: threadId } satisfies ThreadReady);
}

/** Part of the heap limit. A single analysis stays far below it. */
const maxHeapRatio = 0.6;

/** A full heap during inference aborts the process: the pool replaces the thread before. */
export function reportHeapPressure(): void {
  const { used_heap_size, heap_size_limit } = getHeapStatistics();
  if (used_heap_size <= maxHeapRatio * heap_size_limit) return;
  parentPort?.postMessage({ heapPressure: threadId } satisfies HeapPressure);
}
