/** The waiting tasks: uploads, and steps and reports of live sessions. Each kind is fair to accounts. */
import { createFairQueue } from './fair-queue.ts';

/** Uploads are bounded. Steps and reports of live sessions are never refused. */
export type TaskKind = 'upload' | 'step' | 'report';

type Queued = { readonly account: string; readonly kind: TaskKind };

/** Steps that run before a waiting task of another kind. */
const maxStepsInRow = 4;

export function createTaskQueues<Task extends Queued>(uploadCapacity: number) {
  const queues = {
    upload: createFairQueue<Task>(uploadCapacity),
    step: createFairQueue<Task>(Number.POSITIVE_INFINITY),
    report: createFairQueue<Task>(Number.POSITIVE_INFINITY),
  };
  let stepsInRow = 0;
  let previous: TaskKind = 'upload';

  /** Steps first, but for one task of another kind in `maxStepsInRow`. Uploads and reports take turns. */
  function order(): TaskKind[] {
    const others: TaskKind[] = previous === 'report' ? ['upload', 'report'] : ['report', 'upload'];
    return stepsInRow < maxStepsInRow ? ['step', ...others] : [...others, 'step'];
  }

  function taken(task: Task): Task {
    stepsInRow = task.kind === 'step' ? stepsInRow + 1 : 0;
    if (task.kind !== 'step') previous = task.kind;
    return task;
  }

  return {
    uploads: queues.upload,
    size: () => queues.upload.size() + queues.step.size() + queues.report.size(),
    all: () => Object.values(queues).flatMap((queue) => queue.all()),
    add: (task: Task) => queues[task.kind].add(task.account, task),
    remove: (task: Task) => queues[task.kind].remove(task.account, task),
    /** @param reports whether a report may run now */
    next(reports: boolean): Task | null {
      for (const kind of order()) {
        const task = kind === 'report' && !reports ? null : queues[kind].next();
        if (task !== null) return taken(task);
      }
      return null;
    },
  };
}
