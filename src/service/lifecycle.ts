/** Start and stop: whether the service accepts work, and the shutdown by signals. */

import type { Logger } from 'pino';
import { ServiceError } from './errors.ts';
import type { Pool } from './workers/pool.ts';

// Whether the service accepts work: not before the models are warm, and not during shutdown.

export type Lifecycle = ReturnType<typeof createLifecycle>;

/** Ends uploads. Every request listens, and an AbortSignal costs too much per listener. */
export type ShutdownSignal = Lifecycle['shutdown'];

const maxFullMs = 5000;

export function createLifecycle() {
  let draining = false;
  let refusing = false;
  let reason: ServiceError | null = null;
  const listeners = new Set<(reason: ServiceError) => void>();
  return {
    /** True after `startDraining` or `refuseNew`. */
    draining: () => draining,
    refusing: () => refusing,
    /** GET /ready answers 503 from now on; other requests are served as before. */
    startDraining: () => {
      draining = true;
    },
    /** Analyses are refused from now on. */
    refuseNew: () => {
      draining = true;
      refusing = true;
    },
    shutdown: {
      /** Null before the abort. */
      reason: () => reason,
      /** @returns a function that removes the listener */
      listen: (end: (reason: ServiceError) => void) => {
        listeners.add(end);
        return () => void listeners.delete(end);
      },
    },
    /** Ends all uploads. @returns the error of the aborted requests */
    abort: () => {
      const error = reason ?? shuttingDown();
      reason = error;
      for (const end of listeners) end(error);
      return error;
    },
  };
}

/** Returns why an analysis cannot start now; null when it can. */
export function admissionError(lifecycle: Lifecycle, pool: Pick<Pool, 'warm'>): ServiceError | null {
  if (lifecycle.refusing()) return shuttingDown();
  return pool.warm() ? null : new ServiceError('not_ready', 'The models are still loading');
}

/** Returns the error of GET /ready; null when the service is ready. */
export function readinessError(
  lifecycle: Lifecycle,
  pool: Pick<Pool, 'warm' | 'fullForMs'>,
): ServiceError | null {
  if (lifecycle.draining()) return shuttingDown();
  const error = admissionError(lifecycle, pool);
  if (error !== null || pool.fullForMs() < maxFullMs) return error;
  return new ServiceError('overloaded', 'The queue has been full for 5 s');
}

export function shuttingDown(): ServiceError {
  return new ServiceError('shutting_down', 'The service is shutting down');
}

// Graceful shutdown by signals.

type ShutdownOptions = {
  readonly logger: Logger;
  stop(): Promise<void>;
  /** Ends at once; the promise of `stop` may stay pending. */
  abort(): Promise<void>;
  exit(code: number): void;
  /** Of `npxParent`: its end is SIGTERM, unless a signal came before. */
  readonly parent: number | null;
};

const exitCodes = { stopped: 0, aborted: 1 } as const;
/** Ctrl-C signals every process of the group, and npm forwards it again. */
const repeatMs = 500;
const parentCheckMs = 500;

/**
 * npx ends at SIGTERM, with the shell that it started, and forwards nothing: the service would go on without them.
 * @returns the process id of that shell; null for a process that npx did not start
 */
export function npxParent(env: Readonly<Record<string, string | undefined>>): number | null {
  const { npm_command: command, npm_lifecycle_script: script = '' } = env;
  // A program that npx started may start the service too, and end before it.
  return command === 'exec' && /^\W*undertone\b/.test(script) ? process.ppid : null;
}

/** First signal: graceful shutdown. Second: abort. Third: immediate exit. A repeat within `repeatMs` is ignored. */
export function handleSignals({ logger, stop, abort, exit, parent }: ShutdownOptions): void {
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | null = null;
  let code: number = exitCodes.stopped;
  const end = () => exit(code);
  const onSignal = (signal: NodeJS.Signals) => {
    if (first?.signal === signal && performance.now() - first.at < repeatMs) return;
    if (code !== exitCodes.stopped) return end();
    if (first !== null) {
      code = exitCodes.aborted;
      void abort().finally(end);
      return;
    }
    first = { signal, at: performance.now() };
    logger.info({ signal }, 'stopping');
    void stop().finally(end);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  if (parent === null) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    if (first === null) onSignal('SIGTERM');
  }, parentCheckMs);
  timer.unref();
}
