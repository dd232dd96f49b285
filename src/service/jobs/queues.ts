/** The queues of jobs and callbacks: in Redis (redis-queues.ts), or in the memory of the service (memory-queues.ts). */

import type { JobProgress, QueueState } from './job-json.ts';
import type { EncryptedPayload } from './payload.ts';

export type NewEntry = {
  readonly id: string;
  readonly owner: string;
  readonly payload: EncryptedPayload;
  /** ms since 1970 */
  readonly createdAt: number;
};

type QueueEntry = Pick<NewEntry, 'id' | 'payload' | 'createdAt'>;

/** An entry that a worker processes. */
export type QueueJob = QueueEntry & {
  /** Attempts that ended in an error. */
  readonly failedAttempts: number;
  readonly isLastAttempt: boolean;
  reportProgress(progress: JobProgress): void;
};

/** Thrown while a job is processed: returns it to the queue, without counting the attempt. */
export class PutBack extends Error {
  /** `first`: before all others. `turnOf`: as a new job of the owner, with exponential backoff. `delayMs`: after that time. */
  readonly place: 'first' | { readonly turnOf: string } | { readonly delayMs: number };

  constructor(place: PutBack['place']) {
    super('The job returns to the queue');
    this.place = place;
  }
}

/** Thrown while a job is processed: no further attempt can succeed. */
export class UnprocessableError extends Error {}

export type WorkOptions = {
  /** Jobs at a time. */
  readonly concurrency: number;
  process(job: QueueJob): Promise<void>;
  /** Called after a failed attempt. @param isOver no attempt follows */
  onFailed(job: QueueJob, error: Error, isOver: boolean): void;
  /** A job returned to the queue, since the process that ran it was lost. Never called by queues in memory. */
  onReturned?(id: string): void;
  onError(error: Error): void;
};

export type QueueWorker = {
  resize(concurrency: number): void;
  /** Takes no further job. Resolves when the running ones have ended. */
  close(): Promise<void>;
};

export type JobQueue = {
  /** Has no effect when the queue has the job. */
  add(entry: NewEntry): Promise<void>;
  find(id: string): Promise<(QueueEntry & Omit<QueueState, 'reason'>) | null>;
  /** Returns false when a worker runs the job. */
  remove(id: string, owner: string): Promise<boolean>;
  countWaiting(owner: string): Promise<number>;
  /** `oldestAt`: creation of the next job, ms since 1970; null: none waits. */
  count(): Promise<{ readonly waiting: number; readonly running: number; readonly oldestAt: number | null }>;
  work(options: WorkOptions): QueueWorker;
};

/** `worker`: the command `undertone worker`. `service`: one that takes jobs itself. */
export type WorkerKind = 'worker' | 'service';

/** Jobs start in `analyses`; those with long recordings move to `long`. */
export type Queues = {
  readonly analyses: JobQueue;
  readonly long: JobQueue;
  readonly callbacks: JobQueue;
  /** Registers a process that takes jobs. Returns a function that ends it. */
  register(kind: WorkerKind): () => Promise<void>;
  /** Counts the registered processes. */
  countWorkers(kind: WorkerKind): Promise<number>;
  /** When queues in memory were opened, ms since 1970 by the clock as it is: jobs from before are lost. Null in Redis. */
  openedAt(): number | null;
  close(): Promise<void>;
};

/** The last attempt starts after 4 minutes for analyses and after 70 minutes for callbacks. */
export const analysisAttempts = { attempts: 8, firstDelayMs: 2000 } as const;
export const callbackAttempts = { attempts: 13, firstDelayMs: 1000 } as const;
export type Attempts = typeof analysisAttempts | typeof callbackAttempts;

const minTurnDelayMs = 250;
const maxTurnDelayMs = 120_000;

/** The delay of a job that takes a new turn. @param returns how often it returned to the queue before */
export function computeTurnDelayMs(returns: number): number {
  return Math.min(maxTurnDelayMs, minTurnDelayMs * 2 ** returns);
}

/** No job of the queue is delayed for longer. */
export function computeMaxDelayMs({ attempts, firstDelayMs }: Attempts): number {
  return Math.max(maxTurnDelayMs, firstDelayMs * 2 ** (attempts - 1));
}
