/** Maps tasks over a pool of threads and yields the results in the order of the tasks. */

/**
 * ONNX Runtime matches the process's command line recursively at its start, with 250 bytes of stack per character:
 * 350 paths overflow Node's default of 4 MiB.
 */
function stackMebibytes(argv: readonly string[]): number {
  const characters = argv.reduce((sum, argument) => sum + Buffer.byteLength(argument) + 1, 0);
  return 4 + Math.ceil(characters / 2048);
}

/** Tasks per thread that may be submitted ahead of the oldest unfinished one. */
const aheadPerThread = 16;

type MapOptions<Task, Result, Note> = {
  readonly file: string;
  readonly jobs: number;
  readonly settings: object;
  readonly tasks: readonly Task[];
  /** The result of a task whose thread died. */
  lost(task: Task, cause: Error): Result;
  /** Called with what threads post. */
  onNote?(note: Note): void;
};

export async function* mapInOrder<Task, Result, Note extends object = never>(
  options: MapOptions<Task, Result, Note>,
): AsyncGenerator<Result> {
  const { tasks, lost, onNote } = options;
  if (tasks.length === 0) return;
  const threads = Math.min(options.jobs, tasks.length);
  const { createThreadPool } = await import('../service/workers/threads.ts');
  const pool = createThreadPool<Task, Result, Note>({
    threads,
    file: options.file,
    settings: options.settings,
    stackMebibytes: stackMebibytes(process.argv),
    ...(onNote && { onNote }),
  });
  // The tasks of a thread that cannot start fail below.
  pool.started.catch(() => {});
  const run = (task: Task) => pool.run(task, []).catch((cause: Error) => lost(task, cause));
  const running: Promise<Result>[] = [];
  try {
    for (const task of tasks) {
      running.push(run(task));
      if (running.length >= threads * aheadPerThread) yield (await running.shift()) as Result;
    }
    while (running.length > 0) yield (await running.shift()) as Result;
  } finally {
    await Promise.all(running);
    await pool.close();
  }
}
