/** The tasks of a session on the worker pool. */
import type { LiveOutput, LiveStep } from '../analysis/live.ts';
import type { Signal } from '../analysis/signals/table.ts';
import { longSeconds } from '../analysis/types.ts';
import { ServiceError } from '../runtime/errors.ts';
import type { PendingAnalysis, Pool, TaskLimit } from '../workers/pool.ts';
import type { Task } from '../workers/protocol.ts';

export type TaskRunner = {
  /** Retried once when its worker dies. Returns null when cancelled. @param wav creates the file @throws ServiceError */
  step(wav: () => Uint8Array, live: LiveStep): Promise<LiveOutput | null>;
  /** The body of POST /v1/analyze for the samples; null when cancelled. @throws ServiceError */
  report(wav: readonly Uint8Array[], request: ReportRequest): Promise<string | null>;
  /** Stops the running task. */
  cancel(): void;
};

type ReportRequest = {
  readonly signals: readonly Signal[];
  /** Each of two channels alone. */
  readonly split: boolean;
  readonly requestId: string;
  /** Duration of the samples, s. */
  readonly seconds: number;
};

const boundary = 'undertone-stream';

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

  async function run(task: Task, limit: TaskLimit): Promise<string | null> {
    pending = pool.submit(task, { account, ...limit, release: () => {} });
    const result = await pending.result;
    return (
      result && Buffer.from(result.json.buffer, result.json.byteOffset, result.json.byteLength).toString()
    );
  }

  return {
    step: async (wav, live) => {
      const submit = () =>
        run({ body: [wav()], live }, { kind: 'step', deadlineAt: performance.now() + deadlineMs });
      const json = await submit().catch((error) => {
        if (error instanceof ServiceError && error.code === 'worker_lost') return submit();
        throw error;
      });
      return json === null ? null : (JSON.parse(json) as LiveOutput);
    },
    report: (wav, { seconds, split, ...request }) => {
      const task = {
        body: toForm(wav, split),
        boundary,
        maxSeconds: Math.max(longSeconds, seconds + 1),
        ...request,
      };
      const maxRunMs = deadlineMs * Math.max(1, seconds / longSeconds);
      return run(task, { kind: 'report', maxRunMs });
    },
    cancel: () => pending?.cancel(),
  };
}

/** The form of an upload. */
function toForm(wav: readonly Uint8Array[], split: boolean): Uint8Array[] {
  const text = (lines: readonly string[]) => new TextEncoder().encode(lines.join('\r\n'));
  const part = 'Content-Disposition: form-data; name="audio"; filename="audio.wav"';
  const channels = [`--${boundary}`, 'Content-Disposition: form-data; name="channels"', '', 'split'];
  const head = text([...(split ? channels : []), `--${boundary}`, part, 'Content-Type: audio/wav', '', '']);
  return [head, ...wav, text(['', `--${boundary}--`, ''])];
}
