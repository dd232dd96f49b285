/** The environment, streams and exit of a command, its usage errors, its progress and its threads. */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import type { ReadStream, WriteStream } from 'node:tty';
import { escapeControls, escapeLines } from '../node/controls.ts';

export type CliContext = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
  /** True once the reader of standard output has closed it: finish running work, start nothing. */
  stdoutClosed(): boolean;
  /** Sets the exit code to 1. */
  fail(): void;
  /** Exits immediately. */
  exit(code: number): void;
};

/** Invalid command line: printed as one line, exit code 2. */
export class UsageError extends Error {}

export function expected(what: string, name: string, got: string): UsageError {
  return new UsageError(`Expected ${what} for \`${name}\`, got ${escapeControls(got)}`);
}

/**
 * Text that the stream writes from now on keeps line breaks and tabs; other control characters are escaped, for file names,
 * labels and manifests may hold them. Bytes are written as they are: data for other programs, and control sequences of our own.
 */
export function escapeText(stream: WriteStream): void {
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
  stream.write = (chunk: unknown, ...rest: unknown[]) =>
    write(typeof chunk === 'string' ? escapeLines(chunk) : chunk, ...rest);
}

/** @param line bytes are not escaped. Applies back-pressure. `stdoutClosed` reports a closed stream. */
export async function writeLine(stream: WriteStream, line: string | Uint8Array): Promise<void> {
  const text = typeof line === 'string' ? `${line}\n` : Buffer.concat([line, Buffer.from('\n')]);
  if (!stream.write(text)) await once(stream, 'drain').catch(() => {});
}

type Progress = {
  /** Counts a finished file. Writes `line` to standard output, above the bar. */
  step(line?: string | Uint8Array, path?: string): Promise<void>;
  /** Shows how far a long file is. @param part of it that is done, 0 to 1 */
  advance(path: string, part: number): void;
  /** Writes a line to standard error, above the bar; `path` stays on the line. */
  note(text: string, path?: string): void;
  end(summary: string): void;
};

const clearLine = Buffer.from('\r\x1b[K');
const barWidth = 30;
const defaultColumns = 80;

/**
 * Shows a bar on standard error if that is a terminal. The bar is cleared before each line and shorter than the terminal,
 * so that it needs neither a saved cursor nor a change of the terminal's modes.
 */
export function showProgress(total: number, { stdout, stderr }: CliContext): Progress {
  let shown = stderr.isTTY === true && total > 1;
  const started = performance.now();
  let done = 0;
  /** Of long files that are running. */
  const parts = new Map<string, number>();
  const clear = () => {
    if (shown) stderr.write(clearLine);
  };
  const draw = () => {
    const all = [...parts.values()].reduce((sum, part) => sum + part, done);
    const bar = describeProgress(all, total, (performance.now() - started) / 1000);
    clear();
    if (shown) stderr.write(bar.slice(0, (stderr.columns || defaultColumns) - 1));
  };
  draw();
  return {
    async step(line, path) {
      if (path !== undefined) parts.delete(path);
      if (line !== undefined) {
        if (stdout.isTTY) clear();
        await writeLine(stdout, line);
      }
      done++;
      draw();
    },
    advance(path, part) {
      shown = stderr.isTTY === true;
      parts.set(path, part);
      draw();
    },
    note(text, path) {
      clear();
      stderr.write(`${path === undefined ? '' : `${escapeControls(path)}: `}${text}\n`);
      draw();
    },
    end(summary) {
      clear();
      stderr.write(`${summary}\n`);
    },
  };
}

function describeProgress(done: number, total: number, seconds: number): string {
  const filled = Math.round((barWidth * done) / total);
  const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled);
  const rest = done === 0 ? '' : `, ${formatSeconds((seconds / done) * (total - done))} to go`;
  return `${bar} ${Math.floor(done)}/${countFiles(total)}${rest}`;
}

function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

export function countFiles(count: number): string {
  return `${count} ${count === 1 ? 'file' : 'files'}`;
}

// Maps tasks over a pool of threads and yields the results in the order of the tasks.

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

export function parseJobs(text: string | undefined): number {
  if (text === undefined) return availableParallelism();
  if (!/^[1-9]\d{0,2}$/.test(text))
    throw expected('an integer from 1 to 999', '--jobs', JSON.stringify(text));
  return Number(text);
}
