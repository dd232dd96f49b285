/** Entry file of the threads of a worker: loads the models once, then analyses one recording at a time. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Analyses, type AnalyzeRequest, type Analyzer, composeReport } from '../../engine/index.ts';
import { round, signals } from '../../engine/schema.ts';
import { releaseFreeMemory } from '../../node/addon.ts';
import { createAnalyzer } from '../../node/models.ts';
import { createYieldingMutex, type YieldingMutex } from '../fair-share.ts';
import { reportHeapPressure, reportReady, type ThreadSettings, toErrorReply } from '../workers/protocol.ts';
import type { EncodedReport, JobProgressMessage, JobReply, JobTask } from './job-threads.ts';

export const run = start(workerData as ThreadSettings);

async function start(settings: ThreadSettings): Promise<(task: JobTask) => Promise<JobReply>> {
  const analyzer = await createAnalyzer(settings);
  await analyzer.warm();
  reportReady();
  const mutex = createYieldingMutex();
  return async (task) => {
    const reply = await mutex.runExclusive(() => work(analyzer, task, mutex));
    reportHeapPressure();
    // After the reply is sent.
    if (reply.kind === 'report') setImmediate(releaseFreeMemory, reply.audioSeconds);
    return reply;
  };
}

/** Never rejects: errors are replies. */
async function work(
  analyzer: Analyzer,
  { id, queue, signing, ignored, ...options }: JobTask,
  mutex: YieldingMutex,
): Promise<JobReply> {
  const request = { ...options, signals, hashSamples: signing !== null };
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
    const report = { ...composeReport(request, analyses, id), ...(ignored && { ignored }) };
    const encoded = await encode(analyzer, request, { analyses, report }, signing);
    return { kind: 'report', audioSeconds, ...encoded };
  } catch (error) {
    return toErrorReply(error);
  }
}

/** Loads its modules only for a receipt. */
async function encode(
  analyzer: Analyzer,
  request: AnalyzeRequest,
  result: { readonly analyses: Analyses; readonly report: object },
  signing: JobTask['signing'],
): Promise<EncodedReport> {
  if (signing === null) return { json: new TextEncoder().encode(JSON.stringify(result.report)) };
  const { encodeWithReceipt } = await import('../compose-receipt.ts');
  return encodeWithReceipt(analyzer, request, result, signing);
}
