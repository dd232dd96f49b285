/** The file that each thread of `undertone work` runs: loads the models once, then analyses one recording at a time. */
import { parentPort, workerData } from 'node:worker_threads';
import { signals } from '../analysis.ts';
import { type Analyzer, createAnalyzer } from '../analyze.ts';
import { combinedReport } from '../report.ts';
import { type NoReport, noReport, type ThreadSettings } from '../workers/messages.ts';
import { tellIfHeavy, tellReady } from '../workers/standing.ts';
import type { JobProgress } from './view.ts';

export type JobTask = {
  readonly id: string;
  readonly audio: Uint8Array;
  readonly baseline: Uint8Array | null;
  readonly channel: number | null;
  /** Shared: a value other than 0 stops the analysis. */
  readonly cancel: Int32Array;
};

export type JobReply = { readonly kind: 'report'; readonly json: string } | NoReport;

/** Posted while a job is being analysed. */
export type JobNote = { readonly id: string; readonly progress: JobProgress };

export const run = start(workerData as ThreadSettings);

async function start(settings: ThreadSettings): Promise<(task: JobTask) => Promise<JobReply>> {
  const analyzer = await createAnalyzer(settings);
  await analyzer.warm();
  tellReady();
  return async (task) => {
    const reply = await work(analyzer, task);
    tellIfHeavy();
    return reply;
  };
}

/** Never rejects: a failure of any kind is a reply. */
async function work(analyzer: Analyzer, { id, ...asked }: JobTask): Promise<JobReply> {
  const tell = (analysed_s: number, duration_s: number | null) =>
    parentPort?.postMessage({ id, progress: { analysed_s, duration_s } } satisfies JobNote);
  try {
    const analysis = await analyzer.analyzeLong({ ...asked, signals }, tell);
    return { kind: 'report', json: JSON.stringify(combinedReport(analysis, id)) };
  } catch (error) {
    return noReport(error);
  }
}
