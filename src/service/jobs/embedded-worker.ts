/** The worker inside the service: it takes jobs while no `undertone worker` is registered. */
import type { Logger } from 'pino';
import type { WaitReason } from './job-json.ts';
import { readWaitReason } from './queue-state.ts';
import type { Queues } from './queues.ts';
import type { JobWorker } from './worker.ts';

export type EmbeddedWorker = JobWorker & {
  /** Why jobs wait, as of the last check; null: a process takes them. */
  waitReason(): WaitReason | null;
};

type EmbeddedWorkerOptions = {
  readonly queues: Queues;
  /** Null: the service takes no jobs. */
  readonly start: (() => Promise<JobWorker>) | null;
  readonly logger: Logger;
};

const checkMs = 2000;

/** For logs and `undertone doctor`. */
export const noWorkerAdvice =
  'no process takes jobs: run `undertone worker`, or remove UNDERTONE_JOB_WORKERS=0';

export function openEmbeddedWorker({ queues, start, logger }: EmbeddedWorkerOptions): EmbeddedWorker {
  let worker: JobWorker | null = null;
  let isDraining = false;
  let reason: WaitReason | null = null;
  let checking = Promise.resolve();
  let stopped = false;
  let lastFailure = '';

  async function check(): Promise<void> {
    const isNeeded = (await queues.countWorkers('worker')) === 0;
    if (stopped) return;
    if (isNeeded && start !== null) worker ??= await start();
    else if (!isNeeded && worker !== null && !isDraining) void drain(worker);
    const before = reason;
    reason = await readWaitReason(queues);
    if (reason !== null && before === null) logger.warn(noWorkerAdvice);
    lastFailure = '';
  }

  /** No other starts before it has ended. */
  async function drain(ended: JobWorker): Promise<void> {
    isDraining = true;
    await ended.stop().catch((error: unknown) => onFailure(error as Error));
    worker = null;
    isDraining = false;
  }

  /** The next check tries again. */
  function onFailure({ message }: Error): void {
    if (message !== lastFailure) logger.warn({ reason: message }, 'the service cannot take jobs');
    lastFailure = message;
  }

  const schedule = () => {
    checking = checking.then(check).catch(onFailure);
  };
  schedule();
  const timer = setInterval(schedule, checkMs).unref();

  async function end(how: 'stop' | 'abort'): Promise<void> {
    stopped = true;
    clearInterval(timer);
    await checking;
    await worker?.[how]();
  }

  return { stop: () => end('stop'), abort: () => end('abort'), waitReason: () => reason };
}
