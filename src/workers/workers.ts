/** Interface of analysis workers, implemented by threads and by processes. */
import type { Reply, Task, ThreadSettings } from './protocol.ts';

export type Workers = {
  /** Resolves when every worker has loaded its models. Rejects, without a retry, when one cannot start. */
  readonly started: Promise<void>;
  /** Counts the workers that have loaded their models. Each runs one task at a time. */
  ready(): number;
  /** Counts the workers that died. Each is replaced. */
  lost(): number;
  /** Expects fewer running tasks than ready workers. */
  run(task: Task, hasIdleCores: boolean): Run;
  /** Threads with running tasks are not terminated. */
  close(): Promise<void>;
};

export type Run = {
  /** Rejects when the worker dies. */
  readonly reply: Promise<Reply>;
  /** Sets the flag that the analysis reads between its stages. The reply still arrives. */
  stop(): void;
};

export type WorkersOptions = {
  readonly workers: number;
  readonly settings: ThreadSettings;
  /** Entry file of the threads; see ThreadPoolOptions. */
  readonly file?: string;
  /** Called when a worker becomes ready. */
  onReady?(): void;
  onLost?(cause: Error): void;
};

/** Delay after a start that failed. */
export const respawnDelayMs = 500;

export function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}
