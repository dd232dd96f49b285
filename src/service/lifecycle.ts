/** Whether the service accepts work: not before the models are warm, and not during shutdown. */

import { ServiceError } from './errors.ts';
import type { Pool } from './workers/pool.ts';

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
