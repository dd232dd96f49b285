/** The worker of the service itself: it takes jobs while no `undertone worker` is registered. */
import type { Logger } from 'pino';
import { type Queues, type WaitReason, whyWaiting } from './queues.ts';
import type { JobWorker } from './worker.ts';

export type OwnWorker = JobWorker & {
  /** Why jobs wait, as of the last check; null: a process takes them. */
  waitReason(): WaitReason | null;
};

type OwnWorkerOptions = {
  readonly queues: Queues;
  /** Null: the service takes no jobs. */
  readonly start: (() => Promise<JobWorker>) | null;
  readonly logger: Logger;
};

const checkMs = 2000;

export function openOwnWorker({ queues, start, logger }: OwnWorkerOptions): OwnWorker {
  let worker: JobWorker | null = null;
  let reason: WaitReason | null = null;
  let checking = Promise.resolve();
  let stopped = false;

  async function check(): Promise<void> {
    const isNeeded = (await queues.countWorkers('worker')) === 0;
    if (stopped) return;
    if (isNeeded && start !== null) worker ??= await start();
    if (!isNeeded && worker !== null) {
      const ended = worker;
      worker = null;
      void ended.stop();
    }
    const before = reason;
    reason = await whyWaiting(queues);
    if (reason !== null && before === null)
      logger.warn('no process takes jobs: run `undertone worker`, or remove UNDERTONE_JOB_WORKERS=0');
  }

  /** A Redis that is unreachable is asked again. */
  const schedule = () => {
    checking = checking.then(check).catch(() => {});
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
