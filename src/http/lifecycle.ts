/** Whether new work is taken: before the models are warm and after the signal to stop, it is not. */
import { Failure } from '../runtime/errors.ts';
import type { Pool } from '../workers/pool.ts';

export type Lifecycle = {
  /** After either of the two below. */
  leaving(): boolean;
  closed(): boolean;
  /** From now on load balancers are told to go elsewhere, and what still comes is answered as ever. */
  leave(): void;
  /** From now on analyses are refused. */
  close(): void;
  readonly cut: Cut;
  /** The time to finish is over. @returns what the requests that are cut off are told */
  cutOff(): Failure;
};

/** Ends uploads. Every request listens, so it must cost next to nothing: an AbortSignal does not. */
export type Cut = {
  /** Null before the cut. */
  reason(): Failure | null;
  /** @returns how to stop listening */
  listen(end: (reason: Failure) => void): () => void;
};

const fullTooLongMs = 5000;

export function createLifecycle(): Lifecycle {
  let leaving = false;
  let closed = false;
  let reason: Failure | null = null;
  const listeners = new Set<(reason: Failure) => void>();
  return {
    leaving: () => leaving,
    closed: () => closed,
    leave: () => {
      leaving = true;
    },
    close: () => {
      leaving = true;
      closed = true;
    },
    cut: {
      reason: () => reason,
      listen: (end) => {
        listeners.add(end);
        return () => listeners.delete(end);
      },
    },
    cutOff: () => {
      const told = reason ?? shuttingDown();
      reason = told;
      for (const end of listeners) end(told);
      return told;
    },
  };
}

/** Why an analysis cannot be taken now; null when it can. */
export function refusal(lifecycle: Lifecycle, pool: Pick<Pool, 'warm'>): Failure | null {
  if (lifecycle.closed()) return shuttingDown();
  return pool.warm() ? null : new Failure('not_ready', 'The models are being loaded');
}

/** Why a load balancer should send its requests elsewhere; null when it should not. */
export function unreadiness(lifecycle: Lifecycle, pool: Pick<Pool, 'warm' | 'fullForMs'>): Failure | null {
  if (lifecycle.leaving()) return shuttingDown();
  const refused = refusal(lifecycle, pool);
  if (refused !== null || pool.fullForMs() < fullTooLongMs) return refused;
  return new Failure('overloaded', 'The queue has been full for 5 s');
}

/** What new work is told once the service is being stopped. */
export function shuttingDown(): Failure {
  return new Failure('shutting_down', 'The service is being stopped');
}
