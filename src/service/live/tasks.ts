/** The tasks of a session on the worker pool. */

import { type LiveMessage, longSeconds } from '../../engine/index.ts';
import { hasCode } from '../errors.ts';
import type { SerializedState } from '../workers/live-state.ts';
import type { AnalysisResult, PendingAnalysis, Pool, TaskLimit } from '../workers/pool.ts';
import type { RecordingTask, SerializedStep, Task } from '../workers/protocol.ts';

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
        if (hasCode(error, 'worker_lost')) return submit();
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
