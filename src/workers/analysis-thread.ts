/** The file that each analysis thread runs: loads the models once, then answers one task at a time. */
import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { createAnalyzer } from '../analysis/analyze.ts';
import { handleTask } from './handle-task.ts';
import type { Reply, TaskMessage, ThreadSettings } from './protocol.ts';
import { reportHeapPressure, reportReady } from './thread-status.ts';

/** The pool awaits this export before it gives the thread any task. */
export const run = start(workerData as ThreadSettings);

async function start(settings: ThreadSettings): Promise<(task: TaskMessage) => Promise<unknown>> {
  const analyzer = await createAnalyzer(settings);
  await analyzer.warm();
  reportReady();
  return async (task) => {
    const reply = await handleTask(analyzer, task);
    reportHeapPressure();
    return transferred(reply);
  };
}

/** Reports leave the thread without a copy. */
function transferred(reply: Reply): unknown {
  if (reply.kind !== 'report') return reply;
  return move({ [transferableSymbol]: [reply.json.buffer], [valueSymbol]: reply });
}
