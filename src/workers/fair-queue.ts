/**
 * A bounded queue with round robin over accounts. In a full queue the share of an account is the capacity divided by the
 * number of queued accounts, itself included. An account within its share is always accepted: it displaces the newest
 * task of the account with the most tasks, which exceeds its share.
 */
type FairQueue<Task> = {
  size(): number;
  /** Number of accounts with at least one task. */
  accounts(): number;
  /** Whether `add` is allowed for the account now. */
  accepts(account: string): boolean;
  /** Whether every account is refused, including one without a task. */
  refusesAll(): boolean;
  /** The task to remove before `add`; null below capacity. */
  victim(): Task | null;
  add(account: string, task: Task): void;
  /** Returns false when the task is not queued. */
  remove(account: string, task: Task): boolean;
  /** Removes and returns the next task; null when empty. */
  next(): Task | null;
  /** The oldest task of each account. */
  heads(): Task[];
  all(): Task[];
};

export function createFairQueue<Task>(capacity: number): FairQueue<Task> {
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
    accounts: () => waiting.size,
    accepts,
    refusesAll: () => size >= capacity && waiting.size >= capacity,
    victim: () => {
      if (size < capacity) return null;
      let longest = new Set<Task>();
      for (const tasks of waiting.values()) if (tasks.size > longest.size) longest = tasks;
      return [...longest].at(-1) ?? null;
    },
    add: (account, task) => {
      const tasks = waiting.get(account) ?? new Set();
      waiting.set(account, tasks.add(task));
      size++;
    },
    remove,
    next: () => {
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
    heads: () => [...waiting.values()].flatMap(([first]) => (first === undefined ? [] : [first])),
    all: () => [...waiting.values()].flatMap((tasks) => [...tasks]),
  };
}
