/** The environment, streams and exit of a command, and its usage errors. */
import { once } from 'node:events';
import type { ReadStream, WriteStream } from 'node:tty';

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
  return new UsageError(`Expected ${what} for \`${name}\`, got ${got}`);
}

/** Applies back-pressure. `stdoutClosed` reports a closed stream. */
export async function writeLine(stream: WriteStream, line: string): Promise<void> {
  if (!stream.write(`${line}\n`)) await once(stream, 'drain').catch(() => {});
}
