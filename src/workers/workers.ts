/** Those who do the tasks, threads of this process or processes of their own: the pool cannot tell which. */
import type { Reply, Task, ThreadSettings } from './protocol.ts';

export type Workers = {
  /** Resolves when every one has its models; rejects when one cannot start, and nothing is retried. */
  readonly started: Promise<void>;
  /** Whether any can take a task. */
  warm(): boolean;
  /** How many died; each is replaced. */
  lost(): number;
  run(task: Task): Run;
  /** Threads in mid-run are left alone. */
  close(): Promise<void>;
};

export type Run = {
  /** Rejects when the worker died. */
  readonly reply: Promise<Reply>;
  /** Raises a flag that is looked at between the stages; the reply still comes. */
  stop(flag: number): void;
};

export type WorkersOptions = {
  readonly workers: number;
  readonly settings: ThreadSettings;
  /** The file each thread runs; it exports `run` and posts a ThreadReady. */
  readonly file?: string;
  /** Hears why a worker was lost. */
  onLost?(cause: Error): void;
};

/** After a start that failed. */
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
