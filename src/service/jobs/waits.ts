/** Requests that wait for the end of a job: one query at a time asks the database about all jobs that are waited for. */

import { deferred } from '../deferred.ts';
import { createFairBudget } from '../fair-share.ts';
import type { JobOwner, JobStore } from './job-store.ts';

const pollMs = 250;
/** Each is an open request. */
const maxWaits = 1024;

export function createJobWaits(store: Pick<JobStore, 'findOpen'>) {
  /** Ids of jobs by the function that resolves their wait. */
  const waits = new Map<() => void, string>();
  const budget = createFairBudget(maxWaits);
  let polling = false;
  let ended = false;

  async function poll(): Promise<void> {
    const asked = [...waits];
    // The request reports a failure by its next query.
    const ids = [...new Set(waits.values())];
    const open = new Set(ids.length === 0 ? [] : await store.findOpen(ids).catch(() => []));
    for (const [resolve, id] of asked) if (!open.has(id)) resolve();
    polling = false;
    schedule();
  }

  function schedule(): void {
    if (polling || waits.size === 0) return;
    polling = true;
    setTimeout(() => void poll(), pollMs);
  }

  return {
    /**
     * Resolves when the job has ended or is gone, after `ms`, and when `signal` aborts; at once after `end`, and when the
     * owner has its share of the waits.
     */
    async wait(owner: JobOwner, id: string, ms: number, signal: AbortSignal): Promise<void> {
      const reservation = budget.open([owner.key]);
      if (ended || signal.aborted || !reservation.add(1)) return;
      const { promise, resolve } = deferred<void>();
      const end = () => resolve();
      const limit = setTimeout(end, ms);
      signal.addEventListener('abort', end);
      waits.set(end, id);
      schedule();
      await promise;
      clearTimeout(limit);
      waits.delete(end);
      reservation.release();
    },
    count: () => waits.size,
    /** Resolves every wait, now and later. */
    end: () => {
      ended = true;
      for (const resolve of waits.keys()) resolve();
    },
  };
}
