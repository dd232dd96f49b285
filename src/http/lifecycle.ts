/** Whether new work is taken: before the models are warm and after the signal to stop, it is not. */
import { setMaxListeners } from 'node:events';
import { Failure } from '../errors.ts';
import type { Pool } from '../workers/pool.ts';

export type Lifecycle = {
  closing(): boolean;
  /** From now on new requests are refused. */
  close(): void;
  /** Aborted when the time to finish is over; the reason is a Failure. */
  readonly cut: AbortSignal;
  cutOff(): void;
};

const fullTooLongMs = 5000;

export function createLifecycle(): Lifecycle {
  let closing = false;
  const cut = new AbortController();
  // One listener for each upload under way.
  setMaxListeners(0, cut.signal);
  return {
    closing: () => closing,
    close: () => {
      closing = true;
    },
    cut: cut.signal,
    cutOff: () => cut.abort(shuttingDown()),
  };
}

/** Why an analysis cannot be taken now; null when it can. */
export function refusal(lifecycle: Lifecycle, pool: Pool): Failure | null {
  if (lifecycle.closing()) return shuttingDown();
  return pool.warm() ? null : new Failure('not_ready', 'The models are being loaded');
}

/** Why a load balancer should send its requests elsewhere; null when it should not. */
export function unreadiness(lifecycle: Lifecycle, pool: Pool): Failure | null {
  const refused = refusal(lifecycle, pool);
  if (refused !== null || pool.fullFor() < fullTooLongMs) return refused;
  return new Failure('overloaded', 'The queue has been full for 5 s');
}

function shuttingDown(): Failure {
  return new Failure('shutting_down', 'The service is being stopped');
}
