/** Entry file of the threads of a worker: loads the models once, then analyses one recording at a time. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Analyzer, createAnalyzer } from '../analysis/analyze.ts';
import { composeReport } from '../analysis/compose-report.ts';
import { round } from '../analysis/rounding.ts';
import { signals } from '../analysis/signals/table.ts';
import { type ThreadSettings, toErrorReply } from '../workers/protocol.ts';
import { reportHeapPressure, reportReady } from '../workers/thread-status.ts';
import type { JobProgressMessage, JobReply, JobTask } from './job-task.ts';
import { createYieldingMutex, type YieldingMutex } from './yielding-mutex.ts';

export const run = start(workerData as ThreadSettings);

async function start(settings: ThreadSettings): Promise<(task: JobTask) => Promise<JobReply>> {
  const analyzer = await createAnalyzer(settings);
  await analyzer.warm();
  reportReady();
  const mutex = createYieldingMutex();
  return async (task) => {
    const reply = await mutex.runExclusive(() => work(analyzer, task, mutex));
    reportHeapPressure();
    return reply;
  };
}

/** Never rejects: errors are replies. */
async function work(
  analyzer: Analyzer,
  { id, queue, ...options }: JobTask,
  mutex: YieldingMutex,
): Promise<JobReply> {
  const request = { ...options, signals };
  const afterChunk = async (analysed: number, declared: number | null) => {
    const progress = { analysed_s: round(analysed), duration_s: declared === null ? null : round(declared) };
    parentPort?.postMessage({ id, progress } satisfies JobProgressMessage);
    await mutex.yieldToOthers();
  };
  try {
    const analyses =
      queue === 'long'
        ? await analyzer.analyze(request, afterChunk)
        : await analyzer.analyzeUnlessLong(request);
    if (analyses === null) return { kind: 'long' };
    const { seconds: audioSeconds } = analyses[0].audio;
    return { kind: 'report', json: JSON.stringify(composeReport(request, analyses, id)), audioSeconds };
  } catch (error) {
    return toErrorReply(error);
  }
}
