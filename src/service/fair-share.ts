/** Sharing among accounts: budgets, queues, semaphores and rates. docs/operations.md has the rules. */

export type FairBudget = ReturnType<typeof createFairBudget>;

/** Amounts used outside this process: by all keys, and by the key in question. */
export type ExternalUse = { readonly all: number; readonly ofKey: number };

export type Reservation = ReturnType<FairBudget['open']>;

type Options = {
  readonly shareOfFree?: number;
  /** Amount that a key with no use may add beyond its share, if it is free; the size by default. */
  readonly firstAmount?: number;
};

/**
 * A budget shared by keys, such as accounts and hosts, with dynamic thresholds (Choudhury and Hahne, IEEE/ACM Transactions on
 * Networking 6(2), 1998): a key may use at most `shareOfFree` times as much as is free. A single key gets s / (s + 1) of the
 * size; n busy keys settle at s / (ns + 1) each.
 */
export function createFairBudget(size: number, { shareOfFree = 1, firstAmount = size }: Options = {}) {
  const amounts = new Map<string, number>();
  let total = 0;
  function change(keys: readonly string[], by: number): void {
    total += by;
    for (const key of keys) {
      const amount = (amounts.get(key) ?? 0) + by;
      if (amount > 0) amounts.set(key, amount);
      else amounts.delete(key);
    }
  }
  function available(key: string, { all, ofKey }: ExternalUse = { all: 0, ofKey: 0 }): number {
    const used = ofKey + (amounts.get(key) ?? 0);
    const free = size - all - total;
    const first = used === 0 ? Math.min(firstAmount, free) : 0;
    return Math.max(0, first, Math.floor((shareOfFree * free - used) / (shareOfFree + 1)));
  }
  return {
    /** The most that the key may add now. */
    available,
    /** Used by all keys together. */
    used: () => total,
    /** Number of keys with a use. */
    keys: () => amounts.size,
    /** What is added counts for all these keys. */
    open(keys: readonly string[]) {
      let added = 0;
      return {
        /** Returns false, and adds nothing, when one of the keys would exceed its share. */
        add(amount: number, used?: ExternalUse): boolean {
          if (keys.some((key) => amount > available(key, used))) return false;
          change(keys, amount);
          added += amount;
          return true;
        },
        /** Releases the total by default. */
        release(amount = added): void {
          change(keys, -amount);
          added -= amount;
        },
      };
    },
  };
}

/**
 * A bounded queue with round robin over accounts. In a full queue the share of an account is the capacity divided by the
 * number of queued accounts, itself included. An account within its share is always accepted: it displaces the newest
 * task of the account with the most tasks, which exceeds its share.
 */
export function createFairQueue<Task>(capacity: number) {
  /** Accounts in round-robin order, each with its tasks from oldest to newest. */
  const waiting = new Map<string, Set<Task>>();
  let size = 0;
  const lengthOf = (account: string) => waiting.get(account)?.size ?? 0;

  function accepts(account: string): boolean {
    if (size < capacity) return true;
    const accounts = waiting.size + (waiting.has(account) ? 0 : 1);
    return (lengthOf(account) + 1) * accounts <= capacity;
  }

  function remove(account: string, task: Task): boolean {
    const tasks = waiting.get(account);
    if (!tasks?.delete(task)) return false;
    if (tasks.size === 0) waiting.delete(account);
    size--;
    return true;
  }

  return {
    size: () => size,
    /** Number of accounts with at least one task. */
    accounts: () => waiting.size,
    /** Whether `add` is allowed for the account now. */
    accepts,
    /** Whether every account is refused, including one without a task. */
    refusesAll: () => size >= capacity && waiting.size >= capacity,
    /** The task to remove before `add`; null below capacity. */
    victim: (): Task | null => {
      if (size < capacity) return null;
      let longest = new Set<Task>();
      for (const tasks of waiting.values()) if (tasks.size > longest.size) longest = tasks;
      return [...longest].at(-1) ?? null;
    },
    add: (account: string, task: Task) => {
      const tasks = waiting.get(account) ?? new Set();
      waiting.set(account, tasks.add(task));
      size++;
    },
    /** Returns false when the task is not queued. */
    remove,
    /** Removes and returns the next task; null when empty. */
    next: (): Task | null => {
      for (const [account, tasks] of waiting) {
        for (const task of tasks) {
          remove(account, task);
          // Moves the account to the end.
          if (waiting.delete(account)) waiting.set(account, tasks);
          return task;
        }
      }
      return null;
    },
    /** The oldest task of each account. */
    heads: () => [...waiting.values()].flatMap(([first]) => (first === undefined ? [] : [first])),
    all: () => [...waiting.values()].flatMap((tasks) => [...tasks]),
  };
}

// A counting semaphore for the analysis slots of a queue, with round robin over the owners that wait. A permit can be
// released during a slow download and is acquired again afterwards.

export type FairSemaphore = ReturnType<typeof createFairSemaphore>;
export type Permit = Awaited<NonNullable<ReturnType<FairSemaphore['acquire']>>>;

/** @param onReleased receives the number of permits that are released during work */
export function createFairSemaphore(size: number, onReleased: (count: number) => void) {
  const waiting = createFairQueue<() => void>(Number.POSITIVE_INFINITY);
  let free = size;
  let released = 0;
  const changeReleased = (by: number) => {
    released += by;
    onReleased(released);
  };
  async function acquire(owner: string): Promise<void> {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.add(owner, resolve));
  }
  function release(): void {
    const next = waiting.next();
    if (next === null) free++;
    else next();
  }
  function createPermit(owner: string) {
    let held = true;
    return {
      /** Releases the permit until `work` is fulfilled, and for good when it rejects. */
      async releaseDuring<Value>(work: Promise<Value>): Promise<Value> {
        held = false;
        release();
        changeReleased(1);
        try {
          const value = await work;
          await acquire(owner);
          held = true;
          return value;
        } finally {
          changeReleased(-1);
        }
      },
      release(): void {
        if (held) release();
        held = false;
      },
    };
  }
  return {
    /**
     * Returns null when every permit is in use and no job of this worker waits for one. The caller then returns its job to
     * the queue, where an idle worker can start it.
     */
    acquire(owner: string) {
      if (free === 0 && waiting.size() === 0) return null;
      return acquire(owner).then(() => createPermit(owner));
    },
  };
}

export type TokenBucket = ReturnType<typeof createTokenBucket>;

/** A rate limit: `size` at once, and `perSecond`. */
export function createTokenBucket(size: number, perSecond: number) {
  let credit = size;
  let at = performance.now();
  return {
    /** @returns ms until it is within the limit, 0 when it is */
    take: (count = 1): number => {
      const now = performance.now();
      credit = Math.min(size, credit + ((now - at) / 1000) * perSecond) - count;
      at = now;
      return Math.max(0, (-1000 * credit) / perSecond);
    },
  };
}
