/** What an analysis worker runs, in a thread or a process of its own. */
import { createAnalyzer } from '../analysis/analyze.ts';
import { handleTask } from './handle-task.ts';
import type { Reply, TaskMessage, ThreadSettings } from './protocol.ts';
import { isHeapFull } from './thread-status.ts';

export type AnalysisWorker = {
  /** Never rejects. Calls must not overlap. */
  handle(task: TaskMessage): Promise<Reply>;
  /** Whether the worker has to be replaced. */
  isFull(): boolean;
};

/** Loads and warms up the models. @throws ModelError */
export async function openAnalysis(settings: ThreadSettings): Promise<AnalysisWorker> {
  const analyzer = await createAnalyzer(settings);
  await analyzer.warm();
  return { handle: (task) => handleTask(analyzer, task), isFull: isHeapFull };
}
