/** The service's own thread, which also reports the processor time inside the models' sessions as a stage. */
import { parentPort, threadId, workerData } from 'node:worker_threads';
import { analyzerOf } from '../../src/engine/analyze.ts';
import type { Session } from '../../src/engine/platform.ts';
import { warmUp } from '../../src/engine/warm-up.ts';
import { loadModels } from '../../src/node/models.ts';
import { handleTask } from '../../src/service/workers/handle-task.ts';
import type { Reply, TaskMessage, ThreadSettings } from '../../src/service/workers/protocol.ts';

export const run = start(workerData as ThreadSettings);

let microseconds = 0;

/** The other threads wait meanwhile: what the process spends is spent here. */
function counted<Model extends { readonly session: Session }>(model: Model): Model {
  const run: Session['run'] = async (inputs) => {
    const before = process.cpuUsage();
    const outputs = await model.session.run(inputs);
    const { user, system } = process.cpuUsage(before);
    microseconds += user + system;
    return outputs;
  };
  return { ...model, session: { ...model.session, run } };
}

async function start({ modelsDir, limits }: ThreadSettings): Promise<(task: TaskMessage) => Promise<Reply>> {
  const models = await loadModels(modelsDir);
  const { vad, trunk, emotion, cognitive } = models;
  const analyzer = analyzerOf(
    {
      ...models,
      vad: counted(vad),
      trunk: counted(trunk),
      emotion: counted(emotion),
      cognitive: counted(cognitive),
    },
    limits,
  );
  await warmUp(analyzer);
  parentPort?.postMessage({ ready: threadId });
  return async (task) => {
    microseconds = 0;
    const reply = await handleTask(analyzer, task);
    if (reply.kind !== 'report') return reply;
    return { ...reply, stages: [{ name: 'sessions', ms: microseconds / 1000 }] };
  };
}
