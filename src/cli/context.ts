/** Where a command reads its settings and writes its output, and how it says that it was misused. */
import { once } from 'node:events';
import type { ReadStream, WriteStream } from 'node:tty';

export type CliContext = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
  /** Nobody reads standard output any more: finish what runs, start nothing. */
  stdoutClosed(): boolean;
  /** The command goes on to its end, and its exit code is 1. */
  fail(): void;
  /** There and then. */
  exit(code: number): void;
};

/** The command line is wrong: one line, exit code 2. */
export class UsageError extends Error {}

export function expected(what: string, name: string, got: string): UsageError {
  return new UsageError(`Expected ${what} for \`${name}\`, got ${got}`);
}

/** Waits when the reader is slower than we are; one that is gone is told by `readerGone`. */
export async function writeLine(stream: WriteStream, line: string): Promise<void> {
  if (!stream.write(`${line}\n`)) await once(stream, 'drain').catch(() => {});
}
