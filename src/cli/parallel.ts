/** Work on many files in several threads, each result given out in the order of the files. */
import { availableParallelism } from 'node:os';
import { expected } from './context.ts';

/**
 * ONNX Runtime reads the process's command line with a recursive matcher at its start, which took 250 bytes
 * of stack a character: with Node's 4 MiB, a list of 350 paths ended the process.
 */
export function stackMebibytes(argv: readonly string[]): number {
  const characters = argv.reduce((sum, argument) => sum + Buffer.byteLength(argument) + 1, 0);
  return 4 + Math.ceil(characters / 2048);
}

/** Results that may wait for a slower one before them, for each thread. */
const aheadPerThread = 16;

export type Crew<Task, Result> = {
  /** The file each thread runs; its `run` takes a task. */
  readonly file: string;
  readonly jobs: number;
  readonly settings: object;
  readonly tasks: readonly Task[];
  /** A thread was lost with this task. */
  lost(task: Task, cause: Error): Result;
};

export async function* workInOrder<Task, Result>(crew: Crew<Task, Result>): AsyncGenerator<Result> {
  const { tasks, lost } = crew;
  if (tasks.length === 0) return;
  const threads = Math.min(crew.jobs, tasks.length);
  const { Piscina } = await import('piscina');
  const pool = new Piscina({
    filename: crew.file,
    name: 'run',
    minThreads: threads,
    maxThreads: threads,
    workerData: crew.settings,
    resourceLimits: { stackSizeMb: stackMebibytes(process.argv) },
  });
  const work = (task: Task): Promise<Result> => pool.run(task).catch((cause: Error) => lost(task, cause));
  const running: Promise<Result>[] = [];
  try {
    for (const task of tasks) {
      running.push(work(task));
      if (running.length >= threads * aheadPerThread) yield (await running.shift()) as Result;
    }
    while (running.length > 0) yield (await running.shift()) as Result;
  } finally {
    // A thread that ends in the middle of inference aborts the process.
    await Promise.all(running);
    await pool.close();
  }
}

export function parseJobs(text: string | undefined): number {
  if (text === undefined) return availableParallelism();
  if (!/^[1-9]\d{0,2}$/.test(text))
    throw expected('an integer from 1 to 999', '--jobs', JSON.stringify(text));
  return Number(text);
}
