/** Entry file of an analysis thread: loads the models once, then handles tasks, of which it pauses some. */
import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { analyzerOf, warmUp } from '../../engine/index.ts';
import { loadAnalyzer, loadModelsForCores } from '../../node/models.ts';
import { releaseFreeMemory } from '../../node/process.ts';
import { threadsPerTask } from './cores.ts';
import { handleTask } from './handle-task.ts';
import { pauseIfRequested } from './pause-flag.ts';
import {
  type Reply,
  reportHeapPressure,
  reportPaused,
  reportProgress,
  reportReady,
  type TaskMessage,
  type ThreadSettings,
} from './protocol.ts';

/** A shorter recording leaves little behind. */
const releaseSeconds = 60;

/** piscina awaits this export before the first task. */
export const run = start(workerData as ThreadSettings);

/** @throws ModelError */
async function start({
  modelsDir,
  comparedModelsDir,
  limits,
}: ThreadSettings): Promise<(task: TaskMessage) => Promise<unknown>> {
  const { idle, busy } = await loadModelsForCores(modelsDir, threadsPerTask());
  const idleAnalyzer = analyzerOf(idle, limits);
  const openCompared = () => {
    if (!comparedModelsDir) throw new Error('Expected a second set of models, got none');
    return loadAnalyzer({ modelsDir: comparedModelsDir, limits });
  };
  await warmUp(idleAnalyzer);
  reportReady();
  return async ({ id, pauseFlag, hasIdleCores, ...task }) => {
    const yieldToOthers = () => pauseIfRequested(pauseFlag, () => reportPaused(id));
    const onChunk = (analysedSeconds: number, declaredSeconds: number | null) =>
      reportProgress({ progressed: id, analysedSeconds, declaredSeconds });
    const isCompared = 'compared' in task && task.compared === true;
    const openBusy = hasIdleCores ? undefined : async () => analyzerOf(await busy(), limits);
    const open = isCompared ? openCompared : openBusy;
    const reply = await handleTask(idleAnalyzer, task, { open, yieldToOthers, onChunk });
    reportHeapPressure();
    // After the reply is sent.
    if (reply.kind === 'report' && reply.audioSeconds >= releaseSeconds) setImmediate(releaseFreeMemory);
    return transferred(reply);
  };
}

/** Transfers reports instead of copying them. */
function transferred(reply: Reply): unknown {
  if (reply.kind !== 'report') return reply;
  return move({ [transferableSymbol]: [reply.json.buffer], [valueSymbol]: reply });
}
