/** A thread of jobs that loads only while a file is there, and ends when its task says so. */
import { existsSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import type { JobReply, JobTask } from '../../src/service/jobs/job-threads.ts';
import type { ThreadSettings } from '../../src/service/workers/protocol.ts';
import { reportReady } from '../../src/service/workers/protocol.ts';

export const run = start(workerData as ThreadSettings);

async function start({ modelsDir }: ThreadSettings): Promise<(task: JobTask) => Promise<JobReply>> {
  if (!existsSync(modelsDir)) throw new Error('no models');
  reportReady();
  return async ({ id }) => {
    if (id === 'exit') process.exit(3);
    return { kind: 'report', json: new TextEncoder().encode('{}'), audioSeconds: 0 };
  };
}
