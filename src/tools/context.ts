/** The environment, streams and exit of a command, and its usage errors. */

import { once } from 'node:events';
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
 * labels and manifests may hold them. Bytes are written as they are: data for other programs, and control sequences.
 */
export function escapeText(stream: WriteStream): void {
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
  stream.write = (chunk: unknown, ...rest: unknown[]) =>
    write(typeof chunk === 'string' ? escapeLines(chunk) : chunk, ...rest);
}

/** Rows of cells, the first of which are headings, as lines of columns. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

/** @param line bytes are not escaped. Applies back-pressure. `stdoutClosed` reports a closed stream. */
export async function writeLine(stream: WriteStream, line: string | Uint8Array): Promise<void> {
  const text = typeof line === 'string' ? `${line}\n` : Buffer.concat([line, Buffer.from('\n')]);
  if (!stream.write(text)) await once(stream, 'drain').catch(() => {});
}
