/** The audio of a session, and its tasks for the worker pool: when they run, and their limits. */

import { frameBytesOf, type LiveMessage, longSeconds, type SampleFormat } from '../../engine/index.ts';
import type { Scope } from '../auth/tokens.ts';
import { ServiceError } from '../errors.ts';
import type { Reservation } from '../fair-share.ts';
import type { AnalysisResult, PendingAnalysis, Pool, TaskLimit } from '../workers/pool.ts';
import type { RecordingTask, SerializedState, SerializedStep, Task } from '../workers/protocol.ts';
import { type SessionConfig, stepSeconds } from './protocol.ts';

// The tasks of a session on the worker pool.

type StepOutput = { readonly state: SerializedState; readonly messages: readonly LiveMessage[] };

export type TaskRunner = {
  /** Sent again once when its worker dies. Returns null when cancelled. @throws ServiceError */
  step(live: SerializedStep): Promise<StepOutput | null>;
  /** The body of POST /v1/analyze for the samples; null when cancelled. @throws ServiceError */
  report(request: ReportRequest): Promise<string | null>;
  /** Stops the running task. */
  cancel(): void;
};

/** @see RecordingTask */
type ReportRequest = Omit<RecordingTask, 'maxSeconds'> & {
  /** Duration of the samples, s. */
  readonly seconds: number;
};

/**
 * One task at a time.
 * @param account whose share the tasks use
 * @param deadlineMs of one step, and of the report of up to 15 minutes from its start
 */
export function createTaskRunner(
  pool: Pick<Pool, 'submit'>,
  account: string,
  deadlineMs: number,
): TaskRunner {
  let pending: PendingAnalysis | null = null;

  async function run(
    task: Task,
    limit: TaskLimit,
  ): Promise<(AnalysisResult & { readonly text: string }) | null> {
    pending = pool.submit(task, { account, ...limit, release: () => {} });
    const result = await pending.result;
    if (result === null) return null;
    const { buffer, byteOffset, byteLength } = result.json;
    return { ...result, text: Buffer.from(buffer, byteOffset, byteLength).toString() };
  }

  return {
    step: async (live) => {
      const submit = () => run({ live }, { kind: 'step', deadlineAt: performance.now() + deadlineMs });
      const result = await submit().catch((error) => {
        if (error instanceof ServiceError && error.code === 'worker_lost') return submit();
        throw error;
      });
      return result && { state: result.state as SerializedState, messages: JSON.parse(result.text) };
    },
    report: async ({ seconds, ...request }) => {
      const maxSeconds = Math.max(longSeconds, seconds + 1);
      const maxRunMs = deadlineMs * Math.max(1, seconds / longSeconds);
      const result = await run({ ...request, maxSeconds }, { kind: 'report', maxRunMs });
      return result?.text ?? null;
    },
    cancel: () => pending?.cancel(),
  };
}

// Where a stream is analysed: at positions that depend on the samples alone.

/** Positions are frames: samples of every channel. */
export type Step = {
  /** The end of the step before. */
  readonly start: number;
  readonly end: number;
  /** Whether a measurement is due. */
  readonly measure: boolean;
  readonly cause: 'turn.end' | 'session.end' | null;
};

export type Schedule = ReturnType<typeof createSchedule>;

export function createSchedule({
  sample_rate_hz,
  interval_s,
}: Pick<SessionConfig, 'sample_rate_hz' | 'interval_s'>) {
  const positionOf = (index: number) => Math.floor(index * stepSeconds * sample_rate_hz);
  const intervalSteps = interval_s / stepSeconds;
  let last = 0;
  let analyzed = 0;

  function stepTo(end: number, rest: Pick<Step, 'measure' | 'cause'>): Step {
    const start = analyzed;
    analyzed = end;
    return { start, end, ...rest };
  }

  return {
    /** The steps that became due, in order. @param frames received so far */
    advance(frames: number): Step[] {
      const steps: Step[] = [];
      while (positionOf(last + 1) <= frames) {
        last++;
        steps.push(stepTo(positionOf(last), { measure: last % intervalSteps === 0, cause: null }));
      }
      return steps;
    },
    /** An additional step at the end of what was received. */
    force: (frames: number, cause: NonNullable<Step['cause']>) => stepTo(frames, { measure: false, cause }),
  };
}

// Dependencies and limits of a session.

export type Connection = {
  send(text: string): void;
  close(code: number, reason: string): void;
  /** Stops reading from the socket. */
  pause(): void;
  resume(): void;
};

export type ModelVersion = {
  readonly name: string;
  readonly version: string;
  readonly features_version: number;
};

export type SessionMetrics = {
  message(type: string): void;
  audio(seconds: number): void;
  /** From the last sample of a step to its messages. */
  step(ms: number): void;
  closed(code: number): void;
};

export type SessionOptions = {
  readonly connection: Connection;
  readonly tasks: TaskRunner;
  readonly requestId: string;
  readonly scopes: readonly Scope[];
  readonly memory: Reservation;
  readonly limits: {
    readonly maxSeconds: number;
    readonly idleMs: number;
    /** From the start to `session.configure`. */
    readonly configureMs: number;
  };
  readonly models: readonly ModelVersion[];
  readonly metrics: SessionMetrics;
  /**
   * Called with true for a `keep_alive`, with false when audio arrives after one.
   * @returns whether the session is kept: an account keeps a limited number without audio
   */
  keep(kept: boolean): boolean;
  /** Called once, with the seconds of audio that were received. */
  onClosed(audioSeconds: number): void;
  /** Called with the cause of an internal error. */
  onError(cause: unknown): void;
};

// The audio of a session, as the client sent it, in blocks that can be transferred to a worker.

export type Recording = ReturnType<typeof createRecording>;

const blockBytes = 256 * 1024;

export function createRecording(format: Pick<SampleFormat, 'encoding' | 'channels'>) {
  const frameBytes = frameBytesOf(format);
  let blocks: Uint8Array[] = [];
  let length = 0;

  /** Complete frames: samples of every channel. */
  const frames = () => Math.floor(length / frameBytes);

  function append(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) {
      const offset = length % blockBytes;
      if (offset === 0) blocks.push(new Uint8Array(blockBytes));
      const part = bytes.subarray(from, from + blockBytes - offset);
      blocks.at(-1)?.set(part, offset);
      length += part.length;
      from += part.length;
    }
  }

  /** A copy of the frames from `start` to `end`, in shared memory. */
  function slice(start: number, end: number): Uint8Array {
    const [from, to] = [start * frameBytes, end * frameBytes];
    const bytes = new Uint8Array(new SharedArrayBuffer(to - from));
    for (let at = from; at < to; ) {
      const offset = at % blockBytes;
      const block = blocks[Math.floor(at / blockBytes)] as Uint8Array;
      const part = block.subarray(offset, Math.min(blockBytes, offset + to - at));
      bytes.set(part, at - from);
      at += part.length;
    }
    return bytes;
  }

  /** All complete frames, in blocks. The recording is empty afterwards. */
  function take(): Uint8Array[] {
    const bytes = frames() * frameBytes;
    const parts = blocks.map((block, index) => block.subarray(0, Math.max(0, bytes - index * blockBytes)));
    blocks = [];
    length = 0;
    return parts.filter((part) => part.length > 0);
  }

  return { frames, append, slice, take };
}
