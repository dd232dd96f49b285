/**
 * A bounded queue that accounts share. They take turns: between two tasks of one account at most one of each other
 * account leaves. When every place is taken, the share of an account is the places divided by the accounts that wait,
 * itself included. An account within its share is always accepted: the newest task of the account with the most tasks
 * gives way. That account is over its share, since the others together fill more than their shares.
 */
export type FairQueue<Task> = {
  size(): number;
  /** Accounts with at least one task. */
  accounts(): number;
  /** Whether the account may add a task now. */
  accepts(account: string): boolean;
  /** Whether no account may, not even one without any task. */
  refusesAll(): boolean;
  /** The task that has to be removed before the task of an accepted account is added; null when there is a place. */
  victim(): Task | null;
  add(account: string, task: Task): void;
  /** False when the task does not wait. */
  remove(account: string, task: Task): boolean;
  /** Removes the task whose turn it is; null when there is none. */
  next(): Task | null;
  all(): Task[];
};

export function createFairQueue<Task>(places: number): FairQueue<Task> {
  /** In the order of their turns; each account's tasks from the oldest to the newest. */
  const waiting = new Map<string, Set<Task>>();
  let size = 0;
  const lengthOf = (account: string) => waiting.get(account)?.size ?? 0;

  function accepts(account: string): boolean {
    if (size < places) return true;
    const accounts = waiting.size + (waiting.has(account) ? 0 : 1);
    return (lengthOf(account) + 1) * accounts <= places;
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
    refusesAll: () => size >= places && waiting.size >= places,
    victim: () => {
      if (size < places) return null;
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
          // The account goes to the end of the order.
          if (waiting.delete(account)) waiting.set(account, tasks);
          return task;
        }
      }
      return null;
    },
    all: () => [...waiting.values()].flatMap((tasks) => [...tasks]),
  };
}
