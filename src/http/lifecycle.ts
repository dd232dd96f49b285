/** Whether new work is taken: before the models are warm and after the signal to stop, it is not. */
import { ServiceError } from '../runtime/errors.ts';
import type { Pool } from '../workers/pool.ts';

export type Lifecycle = {
  /** After either of the two below. */
  draining(): boolean;
  refusing(): boolean;
  /** From now on load balancers are told to go elsewhere, and what still comes is answered as ever. */
  startDraining(): void;
  /** From now on analyses are refused. */
  refuseNew(): void;
  readonly shutdown: ShutdownSignal;
  /** The time to finish is over. @returns what the requests that are cut off are told */
  abort(): ServiceError;
};

/** Ends uploads. Every request listens, so it must cost next to nothing: an AbortSignal does not. */
export type ShutdownSignal = {
  /** Null before the cut. */
  reason(): ServiceError | null;
  /** @returns how to stop listening */
  listen(end: (reason: ServiceError) => void): () => void;
};

const maxFullMs = 5000;

export function createLifecycle(): Lifecycle {
  let leaving = false;
  let closed = false;
  let reason: ServiceError | null = null;
  const listeners = new Set<(reason: ServiceError) => void>();
  return {
    draining: () => leaving,
    refusing: () => closed,
    startDraining: () => {
      leaving = true;
    },
    refuseNew: () => {
      leaving = true;
      closed = true;
    },
    shutdown: {
      reason: () => reason,
      listen: (end) => {
        listeners.add(end);
        return () => listeners.delete(end);
      },
    },
    abort: () => {
      const told = reason ?? shuttingDown();
      reason = told;
      for (const end of listeners) end(told);
      return told;
    },
  };
}

/** Why an analysis cannot be taken now; null when it can. */
export function admissionError(lifecycle: Lifecycle, pool: Pick<Pool, 'warm'>): ServiceError | null {
  if (lifecycle.refusing()) return shuttingDown();
  return pool.warm() ? null : new ServiceError('not_ready', 'The models are being loaded');
}

/** Why a load balancer should send its requests elsewhere; null when it should not. */
export function readinessError(
  lifecycle: Lifecycle,
  pool: Pick<Pool, 'warm' | 'fullForMs'>,
): ServiceError | null {
  if (lifecycle.draining()) return shuttingDown();
  const refused = admissionError(lifecycle, pool);
  if (refused !== null || pool.fullForMs() < maxFullMs) return refused;
  return new ServiceError('overloaded', 'The queue has been full for 5 s');
}

/** What new work is told once the service is being stopped. */
export function shuttingDown(): ServiceError {
  return new ServiceError('shutting_down', 'The service is being stopped');
}
