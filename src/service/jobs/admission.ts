/** Whether an owner may create further jobs: its share of the queue, and what the database keeps for it. */
import type { JobSettings } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { createFairBudget, type ExternalUse } from '../fair-share.ts';
import type { JobOwner, JobStore } from './job-store.ts';

export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission({
  store,
  settings,
  countUsed,
}: {
  readonly store: Pick<JobStore, 'countKept'>;
  readonly settings: Pick<JobSettings, 'queue' | 'results' | 'resultBytes'>;
  /** Counts the jobs in the queue. */
  countUsed(owner: string): Promise<ExternalUse>;
}) {
  const slots = createQueueSlots({ size: settings.queue, countUsed });
  const kept = createKeptJobs(store, settings);
  return {
    /** @throws ServiceError `overloaded` or `rate_limited` when `count` further jobs are refused now */
    async check(owner: JobOwner, count: number): Promise<void> {
      if (count === 0) return;
      await kept.check(owner, count);
      await slots.check(owner.key, count);
    },
    /** Reserves room until `work` has ended, which returns how many jobs it has added. @throws as `check` */
    async reserve(owner: JobOwner, count: number, work: () => Promise<number>): Promise<void> {
      if (count === 0) await work();
      else await kept.reserve(owner, count, () => slots.reserve(owner.key, count, work));
    },
  };
}

// The queue: jobs that wait, and those of requests in progress, share its slots as a FairBudget.

const queueRetrySeconds = 5;

export function createQueueSlots({
  size,
  countUsed,
}: {
  readonly size: number;
  countUsed(owner: string): Promise<ExternalUse>;
}) {
  const budget = createFairBudget(size, { firstAmount: 1 });
  async function reserve<T>(owner: string, count: number, work: () => Promise<T>): Promise<T> {
    const used = await countUsed(owner);
    const reservation = budget.open([owner]);
    if (!reservation.add(count, used)) {
      const available = budget.available(owner, used);
      const message = `Expected at most ${available} more jobs of this owner in the queue, got ${count}`;
      throw new ServiceError('overloaded', message, { retryAfterSeconds: queueRetrySeconds });
    }
    try {
      return await work();
    } finally {
      reservation.release();
    }
  }
  return { check: (owner: string, count: number) => reserve(owner, count, async () => {}), reserve };
}

// The database: jobs and their results, until they expire. Kept ones stay, and new ones are refused.

/** A count serves the requests of its owner for this time. */
const countMs = 1000;
const keptRetrySeconds = 60;

type Kept = { jobs: number; readonly bytes: number };

function createKeptJobs(
  store: Pick<JobStore, 'countKept'>,
  { results, resultBytes }: Pick<JobSettings, 'results' | 'resultBytes'>,
) {
  /** By the key of the owner, with the jobs that were added since. */
  const counts = new Map<string, Promise<Kept>>();
  /** Jobs of requests in progress, by the key of the owner. */
  const reserved = new Map<string, number>();

  function count(owner: JobOwner): Promise<Kept> {
    const known = counts.get(owner.key);
    if (known !== undefined) return known;
    const counting = store.countKept(owner);
    counts.set(owner.key, counting);
    setTimeout(() => counts.delete(owner.key), countMs).unref();
    return counting;
  }

  function reserve({ key }: JobOwner, added: number): void {
    const jobs = (reserved.get(key) ?? 0) + added;
    if (jobs === 0) reserved.delete(key);
    else reserved.set(key, jobs);
  }

  function requireRoom(kept: Kept, owner: JobOwner, added: number): void {
    const jobs = kept.jobs + (reserved.get(owner.key) ?? 0) + added;
    if (jobs > results) throw full(`${results} kept jobs`, jobs, 'UNDERTONE_JOB_RESULTS');
    if (kept.bytes >= resultBytes)
      throw full(`${resultBytes} bytes of kept results`, kept.bytes, 'UNDERTONE_JOB_RESULT_BYTES');
  }

  return {
    check: async (owner: JobOwner, added: number): Promise<void> =>
      requireRoom(await count(owner), owner, added),
    async reserve(owner: JobOwner, added: number, work: () => Promise<number>): Promise<void> {
      // In the same turn: requests that come together do not pass the limit together.
      requireRoom(await count(owner), owner, added);
      reserve(owner, added);
      try {
        const created = await work();
        const known = await counts.get(owner.key);
        if (known !== undefined) known.jobs += created;
      } finally {
        reserve(owner, -added);
      }
    },
  };
}

function full(expected: string, got: number, setting: string): ServiceError {
  const message = `Expected at most ${expected} of this owner, got ${got}: delete jobs, or wait until some expire. ${setting} sets the limit`;
  return new ServiceError('rate_limited', message, { retryAfterSeconds: keptRetrySeconds });
}
