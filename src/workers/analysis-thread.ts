/** Entry file of an analysis thread: loads the models once, then handles one task at a time. */
import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { openAnalysis } from './analysis.ts';
import type { Reply, TaskMessage, ThreadSettings } from './protocol.ts';
import { reportHeapPressure, reportReady } from './thread-status.ts';

/** piscina awaits this export before the first task. */
export const run = start(workerData as ThreadSettings);

async function start(settings: ThreadSettings): Promise<(task: TaskMessage) => Promise<unknown>> {
  const worker = await openAnalysis(settings);
  reportReady();
  return async (task) => {
    const reply = await worker.handle(task);
    reportHeapPressure();
    return transferred(reply);
  };
}

/** Transfers reports instead of copying them. */
function transferred(reply: Reply): unknown {
  if (reply.kind !== 'report') return reply;
  return move({ [transferableSymbol]: [reply.json.buffer], [valueSymbol]: reply });
}
