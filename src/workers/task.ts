/** The file that each analysis thread runs: loads the models once, then answers one task at a time. */
import { getHeapStatistics } from 'node:v8';
import { parentPort, resourceLimits, threadId, workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { createAnalyzer } from '../analyze.ts';
import { answer } from './answer.ts';
import type { Reply, TaskMessage, ThreadHeavy, ThreadReady, ThreadSettings } from './messages.ts';

/** Share of the heap's limit; an analysis alone leaves it far below. */
const heaviest = 0.6;

/** The pool awaits this export before it gives the thread any task. */
export const run = start(workerData as ThreadSettings);

async function start(settings: ThreadSettings): Promise<(task: TaskMessage) => Promise<unknown>> {
  const analyzer = await createAnalyzer(settings);
  await analyzer.warm();
  parentPort?.postMessage({ ready: threadId } satisfies ThreadReady);
  return async (task) => {
    const reply = await answer(analyzer, task);
    if (isHeavy()) parentPort?.postMessage({ heavy: threadId } satisfies ThreadHeavy);
    return transferred(reply);
  };
}

/** A heap that is found full inside the model runtime aborts the process: the thread is given up before. */
function isHeavy(): boolean {
  const limit = 2 ** 20 * (resourceLimits.maxOldGenerationSizeMb ?? Number.POSITIVE_INFINITY);
  return getHeapStatistics().used_heap_size > heaviest * limit;
}

/** Reports leave the thread without a copy. */
function transferred(reply: Reply): unknown {
  if (reply.kind !== 'report') return reply;
  return move({ [transferableSymbol]: [reply.json.buffer], [valueSymbol]: reply });
}
