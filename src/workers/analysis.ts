/** What an analysis worker runs, in a thread or a process of its own. */
import { analyzerOf } from '../analysis/analyze.ts';
import { loadModelsForCores } from '../models/loader.ts';
import { threadsPerTask } from './cores.ts';
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
export async function openAnalysis({ modelsDir, limits }: ThreadSettings): Promise<AnalysisWorker> {
  const { busy, idle } = await loadModelsForCores(modelsDir, threadsPerTask());
  const analyzers = { busy: analyzerOf(busy, limits), idle: analyzerOf(idle, limits) };
  await analyzers.idle.warm();
  return {
    handle: (task) => handleTask(task.hasIdleCores ? analyzers.idle : analyzers.busy, task),
    isFull: isHeapFull,
  };
}
